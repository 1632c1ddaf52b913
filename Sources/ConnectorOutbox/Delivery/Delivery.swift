// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Delivers the events of one connector, batch by batch, in the order of their arrival, until it is stopped.
///
/// One batch is under way at a time. A batch that the vendor refuses as a whole is halved until the event at fault is
/// found; that one becomes a dead letter, and the batches grow again. After any other failure of a batch, or of its end, the delivery
/// pauses: exponentially longer, at random, and not shorter than the vendor asks for, up to a day. The same events follow, without what has
/// arrived meanwhile, since the vendor may have taken them, and only its answer was lost. After the second attempt in a row that takes too
/// long, ends the plugin's runner, or fails for a reason that is not the connection's, half of them follow. Events that fail by themselves
/// wait on their own, and hold up no others; if none was delivered with them, from their second attempt on.
final class Delivery: Sendable {
    /// The connector.
    let target: DeliveryTarget
    let limits: BatchLimits
    let dependencies: Dependencies
    /// What the vendor has asked of the delivery before this one; nil for nothing.
    let inherited: Pause?
    private let state = Mutex(State())
    private let ended = OneShot<Void>()

    /// The dependencies of a delivery.
    struct Dependencies: Sendable {
        /// Where the events are.
        var engine: any OutboxEngine
        /// Measures the waits.
        var clock: any HostClock
        /// Draws a wait in nanoseconds between zero and its argument.
        var jitter: @Sendable (UInt64) -> UInt64
        /// Called after an attempt was recorded.
        var onSettled: @Sendable (OutboxBatch, [DeliveryOutcome], [DeliveryFailure?], OutboxStep) -> Void
        /// Called when ``Delivery/condition`` has changed.
        var onChange: @Sendable () -> Void
        /// Called when deliveries begin to fail, with the reason, and with nil once one has succeeded.
        var onPause: @Sendable (DeliveryFailure?) -> Void
    }

    /// A wait that the vendor has asked for.
    struct Pause: Sendable {
        /// Its end, in monotonic time.
        var end: UInt64
        /// Why the last attempt failed.
        var failure: DeliveryFailure
        /// How many attempts in a row had failed.
        var failures: Int
    }

    /// How much has arrived, or how much must arrive before a wait ends.
    struct Arrivals {
        var count: Int
        /// Bytes of the payloads, plus one for each separator.
        var bytes: Int

        /// Nothing has arrived.
        static let none = Arrivals(count: 0, bytes: 0)
        /// A single event ends the wait.
        static let any = Arrivals(count: 1, bytes: .max)

        /// Whether this is as much as another amount, in number or in size.
        func reaches(_ other: Arrivals) -> Bool { count >= other.count || bytes >= other.bytes }
    }

    private struct State {
        var condition = DeliveryCondition.idle
        var isStopping = false
        /// Runs the loop.
        var task: Task<Void, Never>?
        /// What has arrived since the last look.
        var arrivals = Arrivals.none
        /// Whether an attempt is wanted at once.
        var isAwake = false
        /// What the delivery that follows this one has to wait out; nil for nothing, and until this one has ended.
        var unfinishedPause: Pause?
        /// How often an operator has asked for all retries at once.
        var expediteCount = 0
        /// The batch whose attempt the engine records, and what is sent once that is counted, or has failed; nil if there is none.
        var recording: (batch: OutboxBatch, end: OneShot<Void>)?
        /// The signal that ends the wait in progress, and how much must arrive to end it; nil if no arrival does.
        var waiter: (signal: OneShot<Void>, enough: Arrivals?)?
    }

    /// Prepares a delivery without starting it.
    ///
    /// - Parameter inherited: The ``unfinishedPause`` of the delivery before it.
    init(to target: DeliveryTarget, _ dependencies: Dependencies, after inherited: Pause? = nil) {
        self.target = target
        self.inherited = inherited
        limits = target.policy.limits(target.limits)
        self.dependencies = dependencies
    }

    /// The connector's path.
    var path: String { target.path }

    /// How its events are queued and delivered.
    var policy: DeliveryPolicy { target.policy }

    /// What the delivery is doing.
    var condition: DeliveryCondition { state.withLock(\.condition) }

    /// Whether the delivery ends after the batch under way.
    var isStopping: Bool { state.withLock(\.isStopping) }

    /// Whether waits are to end: the delivery was stopped, or an operator asked for an attempt.
    var isAwake: Bool { state.withLock { $0.isStopping || $0.isAwake } }

    /// How often an operator has asked for all retries at once.
    var expediteCount: Int { state.withLock(\.expediteCount) }

    // MARK: Waking

    /// Notes that events have arrived.
    ///
    /// - Parameter bytes: Bytes of their payloads, plus one for each separator.
    func arrived(_ count: Int, bytes: Int) {
        let signal = state.withLock { state -> OneShot<Void>? in
            state.arrivals.count = state.arrivals.count.saturatingAdding(count)
            state.arrivals.bytes = state.arrivals.bytes.saturatingAdding(bytes)
            let isEnough = state.waiter?.enough.map(state.arrivals.reaches) ?? false
            return isEnough ? state.waiter.take()?.signal : nil
        }
        signal?.send(())
    }

    /// Notes that other processes may have added events, an unknown number of them.
    func arrivedElsewhere() { arrived(.max, bytes: .max) }

    /// Notes that an operator asks for all retries at once, including those of events that the current attempt sets to retry on their
    /// own. Call it before the engine makes the others due, and ``wake()`` afterwards.
    func willExpediteRetries() { state.withLock { $0.expediteCount += 1 } }

    /// Ends any pause, also one that the vendor asked for: an operator asks for an attempt now.
    func wake() {
        wake { state in
            state.isAwake = true
            return true
        }
    }

    /// Notes that the gate has changed. A pause that the vendor asked for continues.
    func gateChanged(isUsable: Bool) {
        wake { state in
            // If the gate cannot take the batch that is being filled, the batch is given back.
            guard state.condition == (isUsable ? .waitingForGate : .idle) else { return false }
            state.isAwake = true
            return true
        }
    }

    private func wake(_ change: (inout State) -> Bool) {
        let waiter = state.withLock { state in change(&state) ? state.waiter.take() : nil }
        waiter?.signal.send()
    }

    // MARK: Life

    /// Starts to deliver. Call it once.
    func start(on executor: any TaskExecutor) {
        // The task starts outside the lock. It ends at once if `stop` came first.
        let task = Task(executorPreference: executor) { await self.run() }
        state.withLock { $0.task = task }
    }

    /// Ends the delivery after the batch under way.
    func stop() {
        wake { state in
            state.isStopping = true
            return true
        }
    }

    /// Abandons the batch under way; what the vendor has not confirmed stays queued. Call ``stop()`` first.
    func abandon() { state.withLock(\.task)?.cancel() }

    /// Returns once the delivery has ended.
    func end() async { await ended.wait() }

    /// What the delivery that follows this one has to wait out, once this one has ended; nil for nothing.
    var unfinishedPause: Pause? { state.withLock(\.unfinishedPause) }

    private func run() async {
        let pause = await deliver()
        // An operator who wants an attempt at once ends the wait, also of the next delivery.
        state.withLock { $0.unfinishedPause = $0.isAwake ? nil : pause }
        set(.idle)
        ended.send()
    }

    // MARK: Steps of the loop

    /// Shows what the delivery is doing.
    func set(_ condition: DeliveryCondition) {
        let hasChanged = state.withLock { state in
            defer { state.condition = condition }
            return state.condition != condition
        }
        if hasChanged { dependencies.onChange() }
    }

    /// Begins the next look at the queue: what arrives or wakes the delivery from now on ends its next wait.
    func beginLook() { state.withLock { ($0.arrivals, $0.isAwake) = (.none, false) } }

    /// Notes that the engine begins to record an attempt. ``endRecording()`` must follow.
    func beginRecording(_ batch: OutboxBatch) { state.withLock { $0.recording = (batch, OneShot()) } }

    /// Notes that the attempt is recorded and counted, or could not be recorded.
    func endRecording() { state.withLock { $0.recording.take() }?.end.send() }

    /// Waits until an attempt to deliver an event is counted, if the engine records one: its records may have it already.
    func counted(_ id: String) async {
        let end = state.withLock { state in
            state.recording.flatMap { $0.batch.entries.contains { $0.id == id } ? $0.end : nil }
        }
        await end?.wait()
    }

    /// Waits until a monotonic time, or until the delivery is woken or stopped, or enough has arrived.
    ///
    /// - Parameters:
    ///   - end: Nil for no end. It is absolute, because time has passed since the reason for the wait was read.
    ///   - enough: How much must arrive since ``beginLook()``; nil if no arrival ends the wait.
    func wait(until end: UInt64?, orFor enough: Arrivals? = nil) async {
        let signal = OneShot<Void>()
        let isDue = state.withLock { state in
            if state.isStopping || state.isAwake || enough.map(state.arrivals.reaches) ?? false { return true }
            state.waiter = (signal, enough)
            return false
        }
        guard !isDue else { return }
        _ = await signal.wait(by: end ?? .max, on: dependencies.clock)
        state.withLock { $0.waiter = nil }
    }
}
