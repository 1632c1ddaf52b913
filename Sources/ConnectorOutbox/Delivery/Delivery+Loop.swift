// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// The loop: look at the queue, wait or deliver, record, and look again.
extension Delivery {
    /// Delivers until it is stopped.
    ///
    /// - Returns: The wait that the vendor has asked for and that has not ended; nil for none.
    func deliver() async -> Pause? {
        var progress = Progress(count: limits.count)
        await waitOutInherited(&progress)
        while !isStopping {
            beginLook()
            do throws(ConnectorError) {
                try await step(&progress)
            } catch {
                // Let another host try. If this one is stopping, the vendor may already have the batch that could not be recorded.
                if !isStopping { dependencies.engine.release(path) }
                await wait(until: pause(&progress, DeliveryFailure(of: error)))
            }
        }
        guard let end = progress.asked, let failure = progress.failure else { return nil }
        return Pause(end: end, failure: failure, failures: progress.failures)
    }

    /// Takes one look at the queue, and delivers what is due, or waits.
    private func step(_ progress: inout Progress) async throws(ConnectorError) {
        guard target.isUsable() else { return try await waitForGate(&progress) }
        let (monotonic, now) = (dependencies.clock.now(), dependencies.clock.wallTime())
        try await compareClocks(&progress, now)
        // After a batch that was left to wait on its own, new events come first, if they need not wait for others: many such batches that
        // are due could hold them up in turn. Servers mix retries with new events, so where hosts share a queue there is no choice.
        let isNewFirst = progress.hasLeft && !dependencies.engine.isShared
        // No retry is due at the beginning of time.
        var batch = try await self.batch(at: isNewFirst ? Timestamp(nanoseconds: 0) : now, progress)
        if isNewFirst, batch.isEmpty || gather(batch, &progress, monotonic, now) != nil {
            batch = try await self.batch(at: now, progress)
        }
        // New events come after all repeated batches, so other repetitions have nothing left in the queue.
        if !progress.hasLeft, batch.entries.first?.attempts == 0 {
            progress.repeated.removeAll { !$0.contains(batch) }
        }
        if let damage = batch.damage {
            progress.endRepetition(of: batch)
            let failures = batch.entries.map { _ in damage }
            return try await settle(batch, batch.entries.map { _ in .dead }, Attempt(at: now, failures: failures))
        }
        if try await expire(batch, now, &progress) { return }
        guard !batch.isEmpty else {
            // What was left to wait failed, and nothing has shown since that the vendor takes others. If that has grown too old or was
            // dropped, nothing waits any longer.
            if let left = progress.left, left.until > now, let due = batch.nextDue {
                // Others may be due before it. Where hosts share a queue, the engine's time may be only that of the next look.
                set(.paused(left.failure, until: dependencies.engine.isShared ? left.until : due))
            } else {
                set(.idle)
            }
            progress.hasLeft = false
            let end = batch.nextDue.map { monotonic.saturatingAdding($0.nanoseconds(after: now)) }
            return await wait(until: end, orFor: .any)
        }
        if let (end, enough) = gather(batch, &progress, monotonic, now) {
            set(.idle)
            // The gate may have closed before the condition was set.
            guard target.isUsable() else { return }
            return await wait(until: end, orFor: enough)
        }
        guard monotonic >= progress.start else { return try await waitForPace(&progress) }
        try await deliver(batch, &progress)
    }

    /// Waits until the gate opens, or events grow too old. Meanwhile the queue's other hosts may deliver everything.
    private func waitForGate(_ progress: inout Progress) async throws(ConnectorError) {
        set(.waitingForGate)
        // The gate may have opened before the condition was set.
        guard !target.isUsable() else { return }
        dependencies.engine.release(path)
        try await wait(until: .max, expiring: &progress)
    }

    /// Notifies the engine if the wall clock was set back, even before this process started.
    func compareClocks(_ progress: inout Progress, _ now: Timestamp) async throws(ConnectorError) {
        let offset = Int64(clamping: now.nanoseconds) - Int64(clamping: dependencies.clock.now())
        if let last = progress.offset, last - offset < 1_000_000_000 {
            progress.offset = max(last, offset)
            return
        }
        try await dependencies.engine.rewind(path, now: now)
        progress.offset = offset
    }

    /// Delivers a batch and records what became of it.
    private func deliver(_ batch: OutboxBatch, _ progress: inout Progress) async throws(ConnectorError) {
        set(.delivering(after: progress.failure))
        let expediteCount = expediteCount
        let (start, begin) = (dependencies.clock.wallTime(), dependencies.clock.now())
        let answer = await target.send(batch)
        let duration = dependencies.clock.now() - begin
        let waitAlone = waitAlone(batch, progress)
        let decision = DeliveryDecision(answer, of: batch, waitAlone: waitAlone) { entry, least in
            // Zero is for an event that was not sent.
            let wait = least == .zero ? 0 : backoff(after: entry.attempts.saturatingAdding(1), atLeast: least)
            return Timestamp(nanoseconds: dependencies.clock.wallTime().nanoseconds.saturatingAdding(wait))
        }
        let unsent = batch.entries.count - decision.outcomes.count
        progress.hasUnsent = unsent > 0
        var sent = batch
        sent.entries.removeLast(unsent)
        // What the vendor has not taken is held up by the pauses after failures alone.
        let taken = decision.outcomes.count { $0 == .delivered || $0 == .dead }
        progress.start = begin.saturatingAdding(policy.span(of: taken))
        let outcomes = bounded(decision.outcomes, sent.entries)
        try await settle(sent, outcomes, Attempt(at: start, failures: decision.failures), since: expediteCount)
        // An operator who asked for an attempt during this one does not wait for the pace, either.
        if self.expediteCount != expediteCount { progress.start = 0 }
        let hadLeft = progress.hasLeft
        progress.hasLeft = false
        switch decision.next {
        case .proceed:
            if progress.failures > 0 { dependencies.onPause(nil) }
            (progress.failures, progress.failure, progress.named, progress.left) = (0, nil, nil, nil)
            progress.endRepetition(of: batch)
            // Twice as many events may take twice as long, and of a call that takes too long nothing is known.
            let isSlow = duration >= DeliveryPolicy.callTimeout / 2
            progress.slowDeliveriesLeft = isSlow ? max(0, progress.slowDeliveriesLeft - 1) : 0
            if progress.slowDeliveriesLeft == 0 { progress.count = min(limits.count, progress.count * 2) }
        case .split:
            progress.count = max(1, batch.entries.count / 2)
            progress.endRepetition(of: batch)
        case .leave(let failure, let end):
            progress.endRepetition(of: batch)
            progress.left = (failure, end)
            progress.hasLeft = true
            // If this many fail at once, the events are probably not to blame.
            if hadLeft { await waitOut(&progress, failure) }
        case .pause(let failure, let least, let suspect):
            // A composite's answer may name only a child that failed at once.
            let isSuspect = suspect == .batch || duration >= DeliveryPolicy.callTimeout
            let kept = batch.entries.indices.filter { $0 >= outcomes.count || outcomes[$0] == .waiting }
            let positions = kept.map { batch.entries[$0].position }
            let areAtFault = suspect == .everyEvent && !isSuspect
            keep(positions, of: batch, waitAlone: waitAlone || areAtFault, isSuspect: isSuspect, &progress)
            await waitOut(&progress, failure, atLeast: least, suspect)
        }
    }
}
