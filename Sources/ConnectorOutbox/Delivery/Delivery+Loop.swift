// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// The loop: look at the queue, wait or deliver, record, and look again.
extension Delivery {
    /// What one pass of the loop carries to the next.
    struct Progress {
        /// The most events of a new batch; less than the limit while a refused batch is searched, and after two attempts in a row that
        /// took too long or ended the plugin's runner.
        var count: Int
        /// The attempt that the next one repeats; nil if the last one left nothing in its place, or some of its events are gone.
        var repeated: Repetition?
        /// How many attempts in a row have failed, as a whole or for some of their events.
        var failures = 0
        /// Why the last of them failed; nil once one has succeeded.
        var failure: DeliveryFailure?
        /// The id of the event that was last told to end the plugin's runner; nil once an attempt has succeeded.
        var named: String?
        /// How many more slow deliveries must succeed before the batches grow again; more than zero only after a timeout.
        var slowDeliveriesLeft = 0
        /// The monotonic time before which the pace allows no batch.
        var start: UInt64 = 0
        /// The time of day less the monotonic time, in nanoseconds, when they were last compared.
        var offset: Int64?
        /// Whether the last delivery left events of its batch unsent. They wait for no others to share theirs.
        var hasUnsent = false
        /// The event that waits for others to share its batch, and the monotonic time at which it was found.
        var gathering: (position: Int64, since: UInt64)?
    }

    /// What has kept its place after an attempt that failed, and is repeated as it was. If only its answer was lost, the vendor has the
    /// events, and some vendors recognise a batch but not its events.
    struct Repetition {
        /// How many events have kept their places; none that has arrived since joins them.
        var count: Int
        /// Whether the attempt took too long, or ended the plugin's runner.
        var isSuspect: Bool
    }

    /// Delivers until it is stopped.
    func deliver() async {
        var progress = Progress(count: limits.count)
        while !isStopping {
            beginLook()
            do throws(ConnectorError) {
                try await step(&progress)
            } catch {
                // Let another host try. If this one is stopping, the vendor may already have the batch that could not be recorded.
                if !isStopping { environment.engine.release(target) }
                await wait(until: pause(&progress, DeliveryFailure(of: error)))
            }
        }
    }

    private func step(_ progress: inout Progress) async throws(ConnectorError) {
        guard connector.isUsable() else { return try await waitForGate(&progress) }
        let limit = BatchLimits(count: progress.repeated?.count ?? progress.count, bytes: limits.bytes)
        let (monotonic, now) = (environment.clock.now(), environment.clock.wallTime())
        try await compareClocks(&progress, now)
        let batch = try await environment.engine.batch(for: target, upTo: limit, now: now)
        if let damage = batch.damage {
            progress.repeated = nil
            let failures = batch.entries.map { _ in damage }
            return try await settle(batch, batch.entries.map { _ in .dead }, Attempt(at: now, failures: failures))
        }
        if try await expire(batch, now, &progress) { return }
        guard !batch.isEmpty else {
            set(.idle)
            let end = batch.nextDue.map { monotonic.saturatingAdding($0.nanoseconds(after: now)) }
            return await wait(until: end, orFor: .any)
        }
        if let (end, enough) = gather(batch, limit, &progress, monotonic, now) {
            set(.idle)
            // The gate may have closed before the condition was set.
            guard connector.isUsable() else { return }
            return await wait(until: end, orFor: enough)
        }
        guard monotonic >= progress.start else { return await wait(until: progress.start) }
        try await deliver(batch, &progress)
    }

    /// Waits until the gate opens, or events grow too old. Meanwhile the queue's other hosts may deliver everything.
    private func waitForGate(_ progress: inout Progress) async throws(ConnectorError) {
        set(.waitingForGate)
        // The gate may have opened before the condition was set.
        guard !connector.isUsable() else { return }
        environment.engine.release(target)
        try await wait(until: .max, expiring: &progress)
    }

    /// Waits as ``wait(until:orFor:)`` does, but not beyond the next look for events that have grown too old: where this host alone
    /// delivers, they become dead letters.
    ///
    /// Events that other hosts can get are left alone: a host that cannot deliver does not know whether another host can.
    private func wait(until end: UInt64, expiring progress: inout Progress) async throws(ConnectorError) {
        guard policy.maximumAge != nil, !environment.engine.isShared else { return await wait(until: end) }
        let (monotonic, now) = (environment.clock.now(), environment.clock.wallTime())
        try await compareClocks(&progress, now)
        let batch = try await environment.engine.batch(for: target, upTo: limits, now: now)
        if try await expire(batch, now, &progress) { return }
        let isNew = batch.entries.first?.attempts == 0
        // New events leave in the order of their arrival.
        let next = batch.entries.prefix(isNew ? 1 : batch.entries.count).map { expiry(of: $0) }.min()
        let due = Timestamp(nanoseconds: next ?? batch.nextDue?.nanoseconds ?? .max)
        let step = max(Self.shortestStep, min(due.nanoseconds(after: now), policy.longestWait.nanoseconds))
        await wait(until: min(end, monotonic.saturatingAdding(step)))
    }

    /// The shortest time between two looks for events that have grown too old, in nanoseconds.
    private static let shortestStep: UInt64 = 1_000_000_000

    /// Notifies the engine if the wall clock was set back, even before this process started.
    private func compareClocks(_ progress: inout Progress, _ now: Timestamp) async throws(ConnectorError) {
        let offset = Int64(clamping: now.nanoseconds) - Int64(clamping: environment.clock.now())
        if let last = progress.offset, last - offset < 1_000_000_000 {
            progress.offset = max(last, offset)
            return
        }
        try await environment.engine.rewind(target, now: now)
        progress.offset = offset
    }

    // MARK: Filling a batch

    /// How long a batch waits for more events to share it, and how many more fill it; nil to send it now.
    ///
    /// A full batch never waits: `batchAge` only bounds how long a batch with room is held.
    private func gather(
        _ batch: OutboxBatch,
        _ limit: BatchLimits,
        _ progress: inout Progress,
        _ monotonic: UInt64,
        _ now: Timestamp
    ) -> (end: UInt64, enough: Arrivals)? {
        let first = batch.entries[0]
        let age = max(now.nanoseconds(after: first.createdAt), gathered(first.position, &progress))
        let bytes = batch.entries.reduce(0) { $0 + $1.bytes + 1 }
        let room = Arrivals(count: limit.count - batch.entries.count, bytes: limit.bytes - bytes)
        guard !batch.isFull, room.count > 0, room.bytes > 0, first.attempts == 0, !progress.hasUnsent,
            age < policy.batchAge.nanoseconds
        else { return nil }
        return (monotonic.saturatingAdding(policy.batchAge.nanoseconds - age), room)
    }

    /// How long the first event of a batch has been waiting for others, in nanoseconds by the monotonic clock.
    private func gathered(_ position: Int64, _ progress: inout Progress) -> UInt64 {
        let now = environment.clock.now()
        if let gathering = progress.gathering, gathering.position == position { return now - gathering.since }
        progress.gathering = (position, now)
        return 0
    }

    // MARK: Delivering

    /// Delivers a batch and records what became of it.
    private func deliver(_ batch: OutboxBatch, _ progress: inout Progress) async throws(ConnectorError) {
        set(.delivering(after: progress.failure))
        let (start, begin) = (environment.clock.wallTime(), environment.clock.now())
        let answer = await connector.send(batch)
        let duration = environment.clock.now() - begin
        let decision = DeliveryDecision(answer, of: batch) { entry, least in
            // Zero is for an event that was not sent.
            let wait = least == .zero ? 0 : backoff(after: entry.attempts.saturatingAdding(1), atLeast: least)
            // An event that grows too old meanwhile comes when it does, and becomes a dead letter.
            let due = min(environment.clock.wallTime().nanoseconds.saturatingAdding(wait), expiry(of: entry))
            return Timestamp(nanoseconds: due)
        }
        let unsent = batch.entries.count - decision.outcomes.count
        progress.hasUnsent = unsent > 0
        var sent = batch
        sent.entries.removeLast(unsent)
        progress.start = begin.saturatingAdding(policy.span(of: sent.entries.count))
        try await settle(sent, decision.outcomes, Attempt(at: start, failures: decision.failures))
        switch decision.next {
        case .proceed:
            if progress.failures > 0 { environment.onPause(nil) }
            (progress.failures, progress.failure, progress.named, progress.repeated) = (0, nil, nil, nil)
            // Twice as many events may take twice as long, and of a call that takes too long nothing is known.
            let isSlow = duration >= CallOptions().timeoutNanoseconds / 2
            progress.slowDeliveriesLeft = isSlow ? max(0, progress.slowDeliveriesLeft - 1) : 0
            if progress.slowDeliveriesLeft == 0 { progress.count = min(limits.count, progress.count * 2) }
        case .split: (progress.count, progress.repeated) = (max(1, batch.entries.count / 2), nil)
        case .pause(let failure, let least, let suspect):
            // A composite's answer may name only a child that failed at once.
            let isSuspect = suspect == .batch || duration >= CallOptions().timeoutNanoseconds
            // What has kept its place after others were taken is an attempt of its own.
            let left = batch.entries.count - decision.outcomes.count { $0 != .waiting }
            if isSuspect, left == batch.entries.count, progress.repeated?.isSuspect == true {
                // An answer is hardly lost twice in a row: the batch takes too long, or an event in it ends the plugin.
                progress.count = max(1, batch.entries.count / 2)
                // The size may not have been the cause, so it is tried again after a while.
                progress.slowDeliveriesLeft = 8
                progress.repeated = Repetition(count: progress.count, isSuspect: true)
            } else {
                progress.repeated = left > 0 ? Repetition(count: left, isSuspect: isSuspect) : nil
            }
            // Another host may reach the vendor.
            environment.engine.release(target)
            let end = pause(&progress, failure, atLeast: least, suspect)
            let condition = condition
            while !isAwake, environment.clock.now() < end {
                set(condition)
                do throws(ConnectorError) {
                    try await wait(until: end, expiring: &progress)
                } catch {
                    // A store that fails is no reason to try the vendor sooner.
                    await wait(until: min(end, environment.clock.now().saturatingAdding(Self.shortestStep)))
                }
            }
        }
    }

    /// Records an attempt, and retries until it succeeds: an event that the vendor has must not be sent again because the disk was full.
    private func settle(_ batch: OutboxBatch, _ outcomes: [DeliveryOutcome], _ attempt: Attempt)
        async throws(ConnectorError)
    {
        var progress = Progress(count: 1)
        while true {
            do throws(ConnectorError) {
                let step = try await environment.engine.settle(batch, outcomes, attempt)
                if progress.failures > 0 { environment.onPause(nil) }
                return environment.onSettled(batch, outcomes, attempt.failures, step)
            } catch {
                guard !isStopping else { throw error }
                await wait(until: pause(&progress, DeliveryFailure(of: error)))
                beginLook()
            }
        }
    }

    /// Turns the events that are too old into dead letters.
    ///
    /// - Returns: Whether there were any.
    private func expire(
        _ batch: OutboxBatch,
        _ now: Timestamp,
        _ progress: inout Progress
    ) async throws(ConnectorError) -> Bool {
        guard let age = policy.maximumAge else { return false }
        let isOld = batch.entries.map { now.nanoseconds >= expiry(of: $0) }
        guard isOld.contains(true) else { return false }
        // New events leave in the order of their arrival, so the others wait for the next look.
        let failure = DeliveryFailure(.timedOut, "older than \(age.brief) before the vendor took it")
        let old = zip(batch.entries, isOld).prefix { batch.entries[0].attempts > 0 || $1 }.filter(\.1).map(\.0)
        guard !old.isEmpty else { return false }
        progress.repeated = nil
        try await settle(
            batch.keeping(old),
            Array(repeating: .dead, count: old.count),
            Attempt(at: now, failures: Array(repeating: failure, count: old.count))
        )
        return true
    }

    /// The time of day, in nanoseconds, from which an event is too old; the end of time without a `maximumAge`.
    private func expiry(of entry: OutboxBatch.Entry) -> UInt64 {
        guard let age = policy.maximumAge else { return .max }
        return (entry.renewedAt ?? entry.createdAt).nanoseconds.saturatingAdding(age.nanoseconds).saturatingAdding(1)
    }

    /// Draws the wait after some failures in a row, in nanoseconds; not shorter than the vendor asks for, up to a day.
    private func backoff(after failures: Int, atLeast least: Duration?) -> UInt64 {
        let asked = min(least ?? .zero, DeliveryPolicy.longestAskedWait)
        return max(environment.jitter(policy.bound(after: failures).nanoseconds), asked.nanoseconds)
    }

    /// Begins a pause after a failure. The first of several in a row is told, and each event that turns out to end the plugin's runner.
    ///
    /// - Returns: When the pause ends, in monotonic time.
    private func pause(
        _ progress: inout Progress,
        _ failure: DeliveryFailure,
        atLeast least: Duration? = nil,
        _ suspect: DeliveryDecision.Suspect = .connection
    ) -> UInt64 {
        var isNews = progress.failures == 0
        if case .event(let id) = suspect, progress.named != id { (isNews, progress.named) = (true, id) }
        (progress.failures, progress.failure) = (progress.failures + 1, failure)
        if isNews, !isStopping { environment.onPause(failure) }
        let clock = environment.clock
        let wait = backoff(after: progress.failures, atLeast: least)
        let end = clock.now().saturatingAdding(wait)
        set(.paused(failure, until: Timestamp(nanoseconds: clock.wallTime().nanoseconds.saturatingAdding(wait))))
        return end
    }
}

extension DeliveryFailure {
    /// The failure of the outbox itself. The cause says more than the message, such as the permission that a user of NATS lacks.
    fileprivate init(of error: ConnectorError) {
        self.init(error.code, error.message + (error.cause.map { ": \($0)" } ?? ""))
    }
}
