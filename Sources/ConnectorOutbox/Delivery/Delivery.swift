// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import Synchronization

/// Delivers the events of one connector, batch by batch, in the order of their arrival, until it is stopped.
///
/// One batch is under way at a time. A batch that the vendor refuses as a whole is halved until the event at fault is
/// found; that one becomes a dead letter, and the batches grow again. After any other failure the delivery pauses,
/// exponentially longer, at random, and never shorter than the vendor asks for.
package final class Delivery: Sendable {
    /// The connector.
    package let target: String
    /// How to fill and drain.
    package let policy: DeliveryPolicy
    private let limits: BatchLimits
    private let line: Line
    private let state = Mutex(State())
    private let ended = OneShot<Void>()

    /// What a delivery needs of the world around it.
    package struct Line: Sendable {
        /// Where the events are.
        var engine: any OutboxEngine
        /// Measures the waits.
        var clock: any HostClock
        /// Draws a wait in nanoseconds between zero and its argument.
        var jitter: @Sendable (UInt64) -> UInt64
        /// Whether the connector can take a batch now.
        var isUsable: @Sendable () -> Bool
        /// Hands a batch to the adapter. The answer has one element for each event.
        var send: @Sendable ([OutboxEvent]) async -> Result<[DeliveryAnswer], ConnectorError>
        /// Called after an attempt was recorded.
        var onSettled: @Sendable (OutboxBatch, [Fate], [DeliveryFailure?], OutboxStep) -> Void
        /// Called when ``Delivery/condition`` has changed.
        var onChange: @Sendable () -> Void
    }

    /// What a delivery is doing.
    package enum Condition: Sendable, Hashable {
        /// Nothing is due.
        case idle
        /// A batch is under way.
        case delivering
        /// The connector is not open.
        case waitingForGate
        /// The vendor did not take the last batch; the next attempt is at that time.
        case paused(DeliveryFailure, until: Timestamp)
    }

    private struct State {
        var condition = Condition.idle
        var isStopping = false
        /// Whether events have arrived since the last look.
        var hasArrivals = false
        /// Whether somebody wants an attempt at once.
        var isUrged = false
        /// Ends the wait in progress, and whether arrivals do.
        var waiter: (signal: OneShot<Void>, endsOnArrival: Bool)?
    }

    /// Prepares a delivery, and starts nothing.
    package init(_ target: String, _ policy: DeliveryPolicy, limits: BatchLimits, _ line: Line) {
        self.target = target
        self.policy = policy
        self.limits = policy.limits(limits)
        self.line = line
    }

    /// What the delivery is doing.
    package var condition: Condition { state.withLock(\.condition) }

    /// Tells that events have arrived.
    package func arrived() {
        wake { state in
            state.hasArrivals = true
            return state.waiter?.endsOnArrival == true
        }
    }

    /// Ends any pause: the gate has opened, or somebody asks for an attempt now.
    package func urge() {
        wake { state in
            state.isUrged = true
            return true
        }
    }

    /// Ends the delivery after the batch under way, and returns once it has ended.
    package func stop() async {
        wake { state in
            state.isStopping = true
            return true
        }
        await ended.wait()
    }

    private func wake(_ change: (inout State) -> Bool) {
        let waiter = state.withLock { state in change(&state) ? state.waiter.take() : nil }
        waiter?.signal.send()
    }

    private var isStopping: Bool { state.withLock(\.isStopping) }

    private func set(_ condition: Condition) {
        let hasChanged = state.withLock { state in
            defer { state.condition = condition }
            return state.condition != condition
        }
        if hasChanged { line.onChange() }
    }

    /// Waits until a monotonic time, or until somebody urges or stops the delivery, or events arrive.
    ///
    /// - Parameter end: Nil for no end. Counted from when the reason for the wait was read: the clock has gone on since.
    private func wait(until end: UInt64?, endsOnArrival: Bool = false) async {
        let signal = OneShot<Void>()
        let isDue = state.withLock { state in
            if state.isStopping || state.isUrged || endsOnArrival && state.hasArrivals { return true }
            state.waiter = (signal, endsOnArrival)
            return false
        }
        guard !isDue else { return }
        _ = await signal.wait(by: end ?? .max, on: line.clock)
        state.withLock { $0.waiter = nil }
    }

    // MARK: The loop

    /// What one run of the loop carries to the next.
    private struct Progress {
        /// The most events of the next batch; less than the limit while a refused batch is searched.
        var count: Int
        /// How many attempts have failed in a row.
        var failures = 0
        /// The monotonic time before which the pace allows no batch.
        var start: UInt64 = 0
        /// The time of day less the monotonic time, in nanoseconds, when they were last compared.
        var offset: Int64?
        /// The event that waits for others to share its batch, and the monotonic time at which it was found.
        var gathering: (position: Int64, since: UInt64)?
    }

    /// Delivers until it is stopped. Call it once.
    package func run() async {
        var progress = Progress(count: limits.count)
        while !isStopping {
            state.withLock { ($0.hasArrivals, $0.isUrged) = (false, false) }
            do throws(ConnectorError) {
                try await step(&progress)
            } catch {
                await pause(&progress, DeliveryFailure(error.code, error.message), atLeast: nil)
            }
        }
        set(.idle)
        ended.send()
    }

    private func step(_ progress: inout Progress) async throws(ConnectorError) {
        let isUsable = line.isUsable()
        guard isUsable || policy.maximumAge != nil else {
            set(.waitingForGate)
            return await wait(until: nil)
        }
        let limit = BatchLimits(count: progress.count, bytes: limits.bytes)
        let monotonic = line.clock.now()
        let now = line.clock.wallTime()
        try await compareClocks(&progress, now)
        let batch = try await line.engine.batch(for: target, upTo: limit, now: now)
        if try await expire(batch, now) { return }
        guard isUsable else {
            set(.waitingForGate)
            return await wait(until: monotonic.saturatingAdding(policy.longestWait.nanoseconds))
        }
        guard let oldest = batch.entries.first?.event else {
            set(.idle)
            let end = batch.nextDue.map { monotonic.saturatingAdding($0.nanoseconds(after: now)) }
            return await wait(until: end, endsOnArrival: true)
        }
        let age = max(now.nanoseconds(after: oldest.createdAt), gathered(batch.entries[0].position, &progress))
        if batch.entries.count < limit.count, batch.entries[0].attempts == 0, age < policy.batchAge.nanoseconds {
            set(.idle)
            return await wait(until: monotonic.saturatingAdding(policy.batchAge.nanoseconds - age))
        }
        guard monotonic >= progress.start else { return await wait(until: progress.start) }
        if let pace = policy.pace {
            progress.start = monotonic.saturatingAdding(UInt64(Double(batch.entries.count) / pace * 1e9))
        }
        try await deliver(batch, &progress)
    }

    /// Tells the engine when the time of day was set back, also before this process began.
    private func compareClocks(_ progress: inout Progress, _ now: Timestamp) async throws(ConnectorError) {
        let offset = Int64(clamping: now.nanoseconds) - Int64(clamping: line.clock.now())
        if let last = progress.offset, last - offset < 1_000_000_000 {
            progress.offset = max(last, offset)
            return
        }
        try await line.engine.rewind(target, now: now)
        progress.offset = offset
    }

    /// How long the first event of a batch has been waiting for others, whatever the time of day.
    private func gathered(_ position: Int64, _ progress: inout Progress) -> UInt64 {
        let now = line.clock.now()
        if let gathering = progress.gathering, gathering.position == position { return now - gathering.since }
        progress.gathering = (position, now)
        return 0
    }

    /// Delivers a batch and records what became of it.
    private func deliver(_ batch: OutboxBatch, _ progress: inout Progress) async throws(ConnectorError) {
        set(.delivering)
        let start = line.clock.wallTime()
        let answer = await line.send(batch.entries.map(\.event))
        let verdict = Verdict(answer, of: batch) { attempts, least in
            let wait = max(line.jitter(policy.bound(after: attempts).nanoseconds), least?.nanoseconds ?? 0)
            return Timestamp(nanoseconds: line.clock.wallTime().nanoseconds.saturatingAdding(wait))
        }
        try await settle(batch, verdict.fates, Attempt(at: start, failures: verdict.failures))
        switch verdict.next {
        case .proceed:
            progress.failures = 0
            progress.count = min(limits.count, progress.count * 2)
        case .split: progress.count = max(1, batch.entries.count / 2)
        case .pause(let failure, let least): await pause(&progress, failure, atLeast: least)
        }
    }

    /// Records an attempt, as often as it takes: what the vendor has must not be sent again because the disk was full.
    private func settle(_ batch: OutboxBatch, _ fates: [Fate], _ attempt: Attempt) async throws(ConnectorError) {
        var progress = Progress(count: 1)
        while true {
            do throws(ConnectorError) {
                let step = try await line.engine.settle(batch, fates, attempt)
                return line.onSettled(batch, fates, attempt.failures, step)
            } catch {
                guard !isStopping else { throw error }
                await pause(&progress, DeliveryFailure(error.code, error.message), atLeast: nil)
                state.withLock { $0.isUrged = false }
            }
        }
    }

    /// Makes dead letters of the events that are too old.
    ///
    /// - Returns: Whether there were any.
    private func expire(_ batch: OutboxBatch, _ now: Timestamp) async throws(ConnectorError) -> Bool {
        guard let age = policy.maximumAge else { return false }
        let isOld = batch.entries.map { entry in
            now.nanoseconds(after: entry.renewedAt ?? entry.event.createdAt) > age.nanoseconds
        }
        guard isOld.contains(true) else { return false }
        // New events leave in the order of their arrival, so the others wait for the next look.
        let failure = DeliveryFailure(.timedOut, "older than \(age.brief) before the vendor took it")
        let old = zip(batch.entries, isOld).prefix { batch.entries[0].attempts > 0 || $1 }.filter(\.1).map(\.0)
        guard !old.isEmpty else { return false }
        try await settle(
            OutboxBatch(target: target, entries: old),
            Array(repeating: .dead, count: old.count),
            Attempt(at: now, failures: Array(repeating: failure, count: old.count))
        )
        return true
    }

    private func pause(_ progress: inout Progress, _ failure: DeliveryFailure, atLeast least: Duration?) async {
        progress.failures += 1
        let wait = max(line.jitter(policy.bound(after: progress.failures).nanoseconds), least?.nanoseconds ?? 0)
        let end = line.clock.now().saturatingAdding(wait)
        set(.paused(failure, until: Timestamp(nanoseconds: line.clock.wallTime().nanoseconds.saturatingAdding(wait))))
        await self.wait(until: end)
    }
}

extension Timestamp {
    /// The time from an earlier moment to this one; zero if that is later.
    func nanoseconds(after earlier: Timestamp) -> UInt64 { nanoseconds - min(nanoseconds, earlier.nanoseconds) }
}
