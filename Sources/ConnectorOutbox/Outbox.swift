// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform
internal import Synchronization

/// The durable queue between an application's events and the vendors' acknowledgements.
///
/// ```
/// append ──► engine ──► Delivery of each connector ──► adapter
///                              └──► Receipt, QueueStatistics
/// ```
///
/// It opens its engine, and starts its deliveries, when first needed. Use it from any task.
package final class Outbox: Sendable {
    /// The dependencies of an outbox.
    package struct Dependencies: Sendable {
        /// Opens the engine; called at most once at a time, and again only after it threw.
        package var open: @Sendable () async throws(ConnectorError) -> any OutboxEngine
        /// Takes the right to deliver, which one process has at a time.
        package var lock: @Sendable () throws(ConnectorError) -> DeliveryLock
        /// Measures waits and tells the time.
        package var clock: any HostClock
        /// Draws a wait in nanoseconds between zero and its argument.
        package var jitter: @Sendable (UInt64) -> UInt64
        /// Where deliveries run.
        package var executor: any TaskExecutor
        /// Whether this process delivers once its host opens.
        package var delivers: Bool
        /// Whether the events are in the memory of this process, where no command can see them.
        package var isInMemory: Bool
        /// Called when the statistics of a queue or the condition of a delivery have changed.
        package var onChange: @Sendable () -> Void
        /// Called when the store can no longer be used, with the reason, and with nil once it can be used again.
        package var onOutage: @Sendable (ConnectorError?) -> Void
        /// Called when the deliveries to a connector begin to fail, with the reason, and with nil once one has succeeded.
        package var onPause: @Sendable (_ path: String, DeliveryFailure?) -> Void
        /// Called at most once a minute for a connector whose events have become dead letters, with their number since the last call and
        /// the reason of the last one.
        package var onDead: @Sendable (_ path: String, _ count: Int, DeliveryFailure) -> Void

        /// Lists the dependencies.
        package init(
            open: @escaping @Sendable () async throws(ConnectorError) -> any OutboxEngine,
            lock: @escaping @Sendable () throws(ConnectorError) -> DeliveryLock,
            clock: any HostClock,
            jitter: @escaping @Sendable (UInt64) -> UInt64,
            executor: any TaskExecutor,
            delivers: Bool = true,
            isInMemory: Bool = false,
            onChange: @escaping @Sendable () -> Void,
            onOutage: @escaping @Sendable (ConnectorError?) -> Void = { _ in },
            onPause: @escaping @Sendable (_ path: String, DeliveryFailure?) -> Void = { _, _ in },
            onDead: @escaping @Sendable (_ path: String, _ count: Int, DeliveryFailure) -> Void = { _, _, _ in }
        ) {
            self.open = open
            self.lock = lock
            self.clock = clock
            self.jitter = jitter
            self.executor = executor
            self.delivers = delivers
            self.isInMemory = isInMemory
            self.onChange = onChange
            self.onOutage = onOutage
            self.onPause = onPause
            self.onDead = onDead
        }
    }

    /// The engine on its way from the first need of it to its end.
    enum Engine: Sendable {
        /// The task opens it; its failure is for all who wait for it.
        case opening(Task<Result<any OutboxEngine, ConnectorError>, Never>)
        case open(any OutboxEngine)
    }

    /// What changes while the outbox is in use.
    struct State {
        /// The connectors of the tree, by path.
        var targets: [String: DeliveryTarget]
        /// The connectors that are about to be among the targets, and may have events already.
        var expected: Set<String> = []
        /// The new path of each moved connector, by the path under which it got events before.
        var renames: [String: String] = [:]
        /// The connectors that got events before, and are gone.
        var removed: Set<String> = []
        /// The connectors that were moved or removed, and whose events could not be settled.
        var unsettled: Set<String> = []
        /// Sent when the last change of the targets has taken effect.
        var retargeting: OneShot<Void>?
        /// The engine, once it is needed; nil until then, after an attempt to open it has failed, and once it is closed.
        var engine: Engine?
        var statistics = StatisticsTracker()
        /// The bytes that each queue is about to get, from callers that have found room for them.
        var reserved: [String: Int] = [:]
        var rates: [String: DeliveryRate] = [:]
        var deliveries: [String: Delivery] = [:]
        var deadLetters = DeadLetterTally()
        /// What the next delivery of a connector has to wait out, by path.
        var pauses: [String: Delivery.Pause] = [:]
        var lock: DeliveryLock?
        /// Whether the deliveries are wanted.
        var isDraining = false
        var isClosing = false
        /// Polls for the changes of other processes.
        var timer: HostTimer?
        var version: Int64?
        /// The callers that wait for room, or until nothing is queued.
        var waiters = QueueWaiters()
        /// Why events cannot be stored; nil if the last one was.
        var fault: ConnectorError?
        /// Whether the store could not be used when this process last opened or polled it.
        var isOut = false
        /// The engine's durability guarantee; nil until it has opened.
        var stability: String?
    }

    let dependencies: Dependencies
    let state: Mutex<State>
    /// Held by the task that takes the right to deliver, which may wait for a disk; never taken under ``state``.
    let locking = Mutex(())
    let receipts = ReceiptSubscriptions()

    /// Prepares an outbox without opening or starting anything.
    package init(_ targets: [DeliveryTarget], _ dependencies: Dependencies) {
        self.dependencies = dependencies
        state = Mutex(State(targets: Dictionary(targets.map { ($0.path, $0) }) { first, _ in first }))
    }

    /// The paths of the connectors that get events: those with a queue, and those without one for which events wait.
    package var targetPaths: Set<String> {
        state.withLock { state in Set(state.targets.keys.filter { state.receives($0) }) }
    }

    /// Whether a connector gets events.
    package func isTarget(_ path: String) -> Bool { state.withLock { $0.receives(path) } }

    // MARK: The engine

    /// The engine; opens it if necessary.
    package func engine() async throws(ConnectorError) -> any OutboxEngine {
        let (engine, isFirst) = try state.withLock { state throws(ConnectorError) -> (Engine, Bool) in
            guard !state.isClosing else { throw .hostClosed }
            if let engine = state.engine { return (engine, false) }
            let engine = Engine.opening(Task { await self.open() })
            state.engine = engine
            return (engine, true)
        }
        switch engine {
        case .open(let engine): return engine
        case .opening(let task):
            let engine = try await task.value.get()
            if isFirst, state.withLock(\.isDraining) { await deliver() }
            return engine
        }
    }

    /// Opens the engine and reads its statistics, in a task that ``close(within:)`` cancels.
    private func open() async -> Result<any OutboxEngine, ConnectorError> {
        do throws(ConnectorError) {
            let engine = try await dependencies.open()
            do throws(ConnectorError) {
                try await refresh(engine)
                try state.withLock { state throws(ConnectorError) in
                    // Whoever opened the engine closes it, unless `close()` can see it.
                    guard !state.isClosing else { throw .hostClosed }
                    (state.engine, state.stability) = (.open(engine), engine.stability)
                }
            } catch {
                await engine.close()
                throw error
            }
            noteStore(failure: nil)
            return .success(engine)
        } catch {
            noteStore(failure: error)
            // The next caller tries again.
            state.withLock { $0.engine = nil }
            return .failure(error)
        }
    }

    /// Whether the outbox closes or has closed.
    package var isClosing: Bool { state.withLock(\.isClosing) }

    /// Whether the engine is open.
    package var isOpen: Bool { openEngine != nil }

    /// The engine, if it is open.
    package var openEngine: (any OutboxEngine)? { state.withLock(\.openEngine) }

    /// The durability guarantee of stored events; nil until the engine has opened.
    package var stability: String? { state.withLock(\.stability) }

    /// Why events cannot be stored; nil if the last one was, the last proof succeeded, or the store can be used again.
    package var fault: ConnectorError? { state.withLock(\.fault) }

    /// Sets why events cannot be stored; nil if they can.
    package func setFault(_ fault: ConnectorError?) {
        state.withLock { $0.fault = fault }
        dependencies.onChange()
    }

    /// Notes why the store could not be used just now; nil if it could.
    ///
    /// The fault ends with the outage, whether opening, polling or storing met it: the next event tells whether events can be stored.
    package func noteStore(failure: ConnectorError?) {
        let (isOther, isNew) = state.withLock { state -> (Bool, Bool) in
            guard !state.isClosing, failure != nil || state.isOut else { return (false, false) }
            let isOther = state.isOut != (failure != nil)
            let isNew = isOther || state.fault?.message != failure?.message
            (state.isOut, state.fault) = (failure != nil, failure)
            return (isOther, isNew)
        }
        if isOther { dependencies.onOutage(failure) }
        if isNew { dependencies.onChange() }
    }

    /// Reads the statistics of all queues from the engine.
    func refresh(_ engine: any OutboxEngine) async throws(ConnectorError) {
        state.withLock { $0.statistics.begin() }
        let reading: OutboxReading
        do throws(ConnectorError) {
            reading = try await engine.read()
        } catch {
            state.withLock { $0.statistics.end(nil) }
            throw error
        }
        let waiting = state.withLock { state in
            state.statistics.end(reading)
            return state.waiters.take()
        }
        waiting.wake()
        dependencies.onChange()
    }

    // MARK: Ending

    /// An outbox that is dropped rather than closed ends as ``close(within:)`` does without a limit. Until then, the engine stays open
    /// and no other process may deliver.
    deinit {
        let (timer, deliveries, engine, lock) = state.withLock { state in
            (state.timer, Array(state.deliveries.values), state.openEngine, state.lock)
        }
        if let timer { dependencies.clock.cancel(timer) }
        announceDeadLetters(at: nil)
        receipts.finish()
        guard let engine else { return }
        for delivery in deliveries { delivery.stop() }
        Task {
            for delivery in deliveries { await delivery.end() }
            await engine.close()
            withExtendedLifetime(lock) {}
        }
    }

    /// Stops all deliveries at once, each after the batch under way, and closes the engine. What is left stays stored.
    ///
    /// - Parameter grace: How long the batches under way may take. Those that take longer are abandoned: what the vendors have not
    ///   confirmed by then is delivered by the next host, perhaps a second time. Nil for no limit. Closing takes at most ten seconds
    ///   longer, even if an adapter never returns or a disk hangs.
    package func close(within grace: Duration? = nil) async {
        let deadline = grace.map { dependencies.clock.now().saturatingAdding($0.nanoseconds) } ?? .max
        let (deliveries, engine, waiting) = state.withLock { state in
            state.isClosing = true
            if let timer = state.timer.take() { dependencies.clock.cancel(timer) }
            return (Array(state.deliveries.values), state.engine, state.waiters.take())
        }
        if case .opening(let task)? = engine { task.cancel() }
        waiting.wake()
        await stop(deliveries, by: deadline)
        // An engine that opens later is closed by its opener.
        if case .opening(let task)? = engine { await wait(by: deadline) { _ = await task.value } }
        if let engine = state.withLock({ $0.takeEngine() }) {
            await wait(by: deadline.saturatingAdding(Self.engineGrace)) { await engine.close() }
        }
        state.withLock { $0.lock = nil }
        announceDeadLetters(at: nil)
        receipts.finish()
    }

    /// How long a delivery may take to notice that it was abandoned, in nanoseconds.
    private static let abandonmentGrace: UInt64 = 1_000_000_000
    /// How long after the deadline the engine may take to close, in nanoseconds: it needs half of it to interrupt its work.
    private static let engineGrace: UInt64 = 10_000_000_000

    /// Stops deliveries all at once, and abandons what is still under way at the deadline.
    ///
    /// An operation that ignores its cancellation is left behind: the engine refuses to record what it answers later.
    func stop(_ deliveries: [Delivery], by deadline: UInt64) async {
        guard !deliveries.isEmpty else { return }
        for delivery in deliveries { delivery.stop() }
        let end: @Sendable () async -> Void = { for delivery in deliveries { await delivery.end() } }
        if await wait(by: deadline, for: end) { return }
        for delivery in deliveries { delivery.abandon() }
        await wait(by: deadline.saturatingAdding(Self.abandonmentGrace), for: end)
    }

    /// Waits for something that continues whether or not it ends in time.
    ///
    /// - Returns: Whether it has ended by the deadline.
    @discardableResult
    private func wait(by deadline: UInt64, for body: @escaping @Sendable () async -> Void) async -> Bool {
        let ended = OneShot<Void>()
        Task {
            await body()
            ended.send()
        }
        return await ended.wait(by: deadline, on: dependencies.clock) != nil
    }
}

extension Outbox.State {
    /// The engine, if it is open.
    var openEngine: (any OutboxEngine)? {
        if case .open(let engine)? = engine { engine } else { nil }
    }

    /// Takes the engine to close it, if it is open.
    fileprivate mutating func takeEngine() -> (any OutboxEngine)? {
        defer { engine = nil }
        return openEngine
    }
}
