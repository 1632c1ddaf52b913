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
        /// The batches that keep their place after failed attempts, latest last; forgotten once some of their events are gone.
        var repeated: [Repetition] = []
        /// How many attempts in a row have failed, as a whole or for some of their events.
        var failures = 0
        /// Why the last of them failed; nil once one has succeeded.
        var failure: DeliveryFailure?
        /// The monotonic time before which the vendor has asked for no attempt; nil once that wait has ended.
        var asked: UInt64?
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
        /// Why the events that were last left to wait on their own were not delivered, and until when they wait; nil once an attempt has
        /// succeeded since.
        var left: (failure: DeliveryFailure, until: Timestamp)?
        /// Whether the last delivery left its batch so.
        var hasLeft = false
        /// The event that waits for others to share its batch, and the monotonic time at which it was found.
        var gathering: (position: Int64, since: UInt64)?

        /// What a batch repeats; nil if nothing of it has kept its place.
        func repetition(of batch: OutboxBatch) -> Repetition? { repeated.last { $0.contains(batch) } }

        /// Forgets what a batch has repeated, as it is not to be repeated again as it was.
        mutating func endRepetition(of batch: OutboxBatch) { repeated.removeAll { $0.contains(batch) } }
    }

    /// What has kept its place after an attempt that failed, and is repeated as it was. If only its answer was lost, the vendor has the
    /// events, and some vendors recognise a batch but not its events.
    struct Repetition {
        /// How many events have kept their places, or half as many if the attempt is not to be as large; none that has arrived since joins
        /// them.
        var count: Int
        /// The positions of all that have kept their places.
        var positions: Set<Int64>
        /// Whether they waited on their own before, or do so if all fail by themselves once more.
        var waitAlone: Bool
        /// Whether the attempt took too long, or ended the plugin's runner.
        var isSuspect: Bool

        /// Whether any event of a batch has kept its place.
        func contains(_ batch: OutboxBatch) -> Bool { batch.entries.contains { positions.contains($0.position) } }
    }

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

    /// Waits for the rest of the pause that the vendor requested of the previous delivery.
    private func waitOutInherited(_ progress: inout Progress) async {
        let (clock, now) = (dependencies.clock, dependencies.clock.now())
        guard let inherited, now < inherited.end else { return }
        (progress.failures, progress.failure) = (inherited.failures, inherited.failure)
        progress.asked = inherited.end
        let end = clock.wallTime().nanoseconds.saturatingAdding(inherited.end - now)
        set(.paused(inherited.failure, until: Timestamp(nanoseconds: end)))
        await rest(until: inherited.end, &progress)
    }

    private func step(_ progress: inout Progress) async throws(ConnectorError) {
        guard target.isUsable() else { return try await waitForGate(&progress) }
        let (monotonic, now) = (dependencies.clock.now(), dependencies.clock.wallTime())
        try await compareClocks(&progress, now)
        // After a batch that was left to wait on its own, new events come first, if they need not wait for others: many such batches that
        // are due could hold them up in turn. Servers mix retries with new events, so where hosts share a queue there is no choice.
        let isNewFirst = progress.hasLeft && !dependencies.engine.isShared
        // No retry is due at the beginning of time.
        var (batch, limit) = try await self.batch(at: isNewFirst ? Timestamp(nanoseconds: 0) : now, progress)
        if isNewFirst, batch.isEmpty || gather(batch, limit, &progress, monotonic, now) != nil {
            (batch, limit) = try await self.batch(at: now, progress)
        }
        // New events follow whatever has kept its place, so anything else that had is gone.
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
            // dropped, nothing waits any more.
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
        if let (end, enough) = gather(batch, limit, &progress, monotonic, now) {
            set(.idle)
            // The gate may have closed before the condition was set.
            guard target.isUsable() else { return }
            return await wait(until: end, orFor: enough)
        }
        guard monotonic >= progress.start else { return await wait(until: progress.start) }
        try await deliver(batch, &progress)
    }

    /// The next batch at a time of day, and its limits. Nothing joins what is repeated.
    private func batch(
        at now: Timestamp,
        _ progress: Progress
    ) async throws(ConnectorError) -> (batch: OutboxBatch, limit: BatchLimits) {
        var limit = BatchLimits(count: progress.repeated.last?.count ?? progress.count, bytes: limits.bytes)
        let batch = try await dependencies.engine.batch(for: path, upTo: limit, now: now)
        // Retries of others may come before what is repeated, and its size is not theirs.
        let count = progress.repetition(of: batch)?.count ?? progress.count
        guard !batch.isEmpty, count != limit.count else { return (batch, limit) }
        limit.count = count
        return (try await dependencies.engine.batch(for: path, upTo: limit, now: now), limit)
    }

    /// Waits until the gate opens, or events grow too old. Meanwhile the queue's other hosts may deliver everything.
    private func waitForGate(_ progress: inout Progress) async throws(ConnectorError) {
        set(.waitingForGate)
        // The gate may have opened before the condition was set.
        guard !target.isUsable() else { return }
        dependencies.engine.release(path)
        try await wait(until: .max, expiring: &progress)
    }

    /// Waits as ``wait(until:orFor:)`` does, but not beyond the next look for events that have grown too old: where this host alone
    /// delivers, they become dead letters.
    ///
    /// Events that other hosts can get are left alone: a host that cannot deliver does not know whether another host can.
    private func wait(until end: UInt64, expiring progress: inout Progress) async throws(ConnectorError) {
        guard policy.maximumAge != nil, !dependencies.engine.isShared else { return await wait(until: end) }
        let (monotonic, now) = (dependencies.clock.now(), dependencies.clock.wallTime())
        try await compareClocks(&progress, now)
        let batch = try await dependencies.engine.batch(for: path, upTo: limits, now: now)
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
        let offset = Int64(clamping: now.nanoseconds) - Int64(clamping: dependencies.clock.now())
        if let last = progress.offset, last - offset < 1_000_000_000 {
            progress.offset = max(last, offset)
            return
        }
        try await dependencies.engine.rewind(path, now: now)
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
        let now = dependencies.clock.now()
        if let gathering = progress.gathering, gathering.position == position { return now - gathering.since }
        progress.gathering = (position, now)
        return 0
    }

    // MARK: Delivering

    /// Delivers a batch and records what became of it.
    private func deliver(_ batch: OutboxBatch, _ progress: inout Progress) async throws(ConnectorError) {
        set(.delivering(after: progress.failure))
        let hastenings = hastenings
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
        progress.start = begin.saturatingAdding(policy.span(of: sent.entries.count))
        let outcomes = bounded(decision.outcomes, sent.entries)
        try await settle(sent, outcomes, Attempt(at: start, failures: decision.failures), since: hastenings)
        let hadLeft = progress.hasLeft
        progress.hasLeft = false
        switch decision.next {
        case .proceed:
            if progress.failures > 0 { dependencies.onPause(nil) }
            (progress.failures, progress.failure, progress.named, progress.left) = (0, nil, nil, nil)
            progress.endRepetition(of: batch)
            // Twice as many events may take twice as long, and of a call that takes too long nothing is known.
            let isSlow = duration >= CallOptions().timeoutNanoseconds / 2
            progress.slowDeliveriesLeft = isSlow ? max(0, progress.slowDeliveriesLeft - 1) : 0
            if progress.slowDeliveriesLeft == 0 { progress.count = min(limits.count, progress.count * 2) }
        case .split:
            progress.count = max(1, batch.entries.count / 2)
            progress.endRepetition(of: batch)
        case .leave(let failure, let end):
            progress.endRepetition(of: batch)
            progress.left = (failure, end)
            progress.hasLeft = true
            // If so many fail at one time, it is hardly their own fault.
            if hadLeft { await rest(&progress, failure) }
        case .pause(let failure, let least, let suspect):
            // A composite's answer may name only a child that failed at once.
            let isSuspect = suspect == .batch || duration >= CallOptions().timeoutNanoseconds
            let kept = batch.entries.indices.filter { $0 >= outcomes.count || outcomes[$0] == .waiting }
            let positions = kept.map { batch.entries[$0].position }
            let areAtFault = suspect == .everyEvent && !isSuspect
            keep(positions, of: batch, waitAlone: waitAlone || areAtFault, isSuspect: isSuspect, &progress)
            await rest(&progress, failure, atLeast: least, suspect)
        }
    }

    /// Whether the events of a batch have failed before and wait on their own.
    private func waitAlone(_ batch: OutboxBatch, _ progress: Progress) -> Bool {
        // Where hosts share a queue, what has kept its place comes back as if it had waited on its own.
        if let repetition = progress.repetition(of: batch) { return repetition.waitAlone }
        return batch.entries[0].attempts > 0
    }

    /// The outcomes of events, none of which is to be retried later than it grows too old: it comes then, and becomes a dead letter.
    private func bounded(_ outcomes: [DeliveryOutcome], _ entries: [OutboxBatch.Entry]) -> [DeliveryOutcome] {
        guard policy.maximumAge != nil else { return outcomes }
        return zip(outcomes, entries).map { outcome, entry -> DeliveryOutcome in
            guard case .retry(let due) = outcome else { return outcome }
            return .retry(at: min(due, Timestamp(nanoseconds: expiry(of: entry))))
        }
    }

    /// Makes the next attempt repeat what has kept its place, or half of it after two attempts in a row that are suspect.
    private func keep(
        _ positions: [Int64],
        of batch: OutboxBatch,
        waitAlone: Bool,
        isSuspect: Bool,
        _ progress: inout Progress
    ) {
        // What has kept its place after others were taken is an attempt of its own.
        var count = positions.count
        if isSuspect, count == batch.entries.count, progress.repetition(of: batch)?.isSuspect == true {
            // Losing the answer twice in a row is unlikely: the batch takes too long, or an event in it ends the plugin.
            count = max(1, count / 2)
            progress.count = count
            // The size may not have been the cause, so it is tried again after a while.
            progress.slowDeliveriesLeft = 8
        }
        progress.endRepetition(of: batch)
        guard count > 0 else { return }
        progress.repeated.append(
            Repetition(count: count, positions: Set(positions), waitAlone: waitAlone, isSuspect: isSuspect)
        )
    }

    /// Pauses after a failure; another host of the queue may reach the vendor meanwhile.
    private func rest(
        _ progress: inout Progress,
        _ failure: DeliveryFailure,
        atLeast least: Duration? = nil,
        _ suspect: DeliveryDecision.Suspect = .connection
    ) async {
        dependencies.engine.release(path)
        let end = pause(&progress, failure, atLeast: least, suspect)
        progress.asked = least.map { least in
            dependencies.clock.now().saturatingAdding(min(least, DeliveryPolicy.longestAskedWait).nanoseconds)
        }
        await rest(until: end, &progress)
    }

    /// Waits out a pause, unless the delivery is stopped or woken.
    private func rest(until end: UInt64, _ progress: inout Progress) async {
        let condition = condition
        while !isAwake, dependencies.clock.now() < end {
            set(condition)
            do throws(ConnectorError) {
                try await wait(until: end, expiring: &progress)
            } catch {
                // A failing store does not shorten the vendor's pause.
                await wait(until: min(end, dependencies.clock.now().saturatingAdding(Self.shortestStep)))
            }
        }
        if !isStopping { progress.asked = nil }
    }

    /// Records an attempt, and retries until it succeeds: an event that the vendor has must not be sent again because the disk was full.
    ///
    /// - Parameter hastenings: How often an operator had wanted all retries at once when the attempt began; nil if it begins now.
    private func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt,
        since hastenings: Int? = nil
    ) async throws(ConnectorError) {
        let hastenings = hastenings ?? self.hastenings
        var progress = Progress(count: 1)
        while true {
            do throws(ConnectorError) {
                let step = try await dependencies.engine.settle(batch, outcomes, attempt)
                if progress.failures > 0 { dependencies.onPause(nil) }
                // Whoever wants an attempt at once means another one at the vendor, not only one to record the last, and also of what that
                // has left to wait on its own.
                if self.hastenings != hastenings {
                    try? await dependencies.engine.hasten(path, now: dependencies.clock.wallTime())
                    wake()
                }
                return dependencies.onSettled(batch, outcomes, attempt.failures, step)
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
        let expired = batch.keeping(old)
        progress.endRepetition(of: expired)
        try await settle(
            expired,
            Array(repeating: .dead, count: old.count),
            Attempt(at: now, failures: Array(repeating: failure, count: old.count))
        )
        return true
    }

    /// The time of day, in nanoseconds, from which an event is too old; the end of time without a `maximumAge`.
    private func expiry(of entry: OutboxBatch.Entry) -> UInt64 {
        guard let age = policy.maximumAge else { return .max }
        let start = entry.agesFrom ?? entry.renewedAt ?? entry.createdAt
        return start.nanoseconds.saturatingAdding(age.nanoseconds).saturatingAdding(1)
    }

    /// Draws the wait after some failures in a row, in nanoseconds; not shorter than the vendor asks for, up to a day.
    private func backoff(after failures: Int, atLeast least: Duration?) -> UInt64 {
        let asked = min(least ?? .zero, DeliveryPolicy.longestAskedWait)
        return max(dependencies.jitter(policy.bound(after: failures).nanoseconds), asked.nanoseconds)
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
        if isNews, !isStopping { dependencies.onPause(failure) }
        let clock = dependencies.clock
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
