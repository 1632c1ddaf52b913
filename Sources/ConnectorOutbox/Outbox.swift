// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorOneShot
package import ConnectorPlatform
internal import Synchronization

/// The durable queue between an application's events and the vendors' acknowledgements.
///
/// ```
/// append ──► engine ──► Delivery of each connector ──► adapter
///                              └──► Receipt, Standing
/// ```
///
/// It opens its engine, and starts its deliveries, when first needed. Use it from any task.
package final class Outbox: Sendable {
    /// What the outbox needs of the world around it.
    package struct Environment: Sendable {
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
        /// Called when a standing or a condition has changed.
        package var onChange: @Sendable () -> Void

        /// Takes its parts.
        package init(
            open: @escaping @Sendable () async throws(ConnectorError) -> any OutboxEngine,
            lock: @escaping @Sendable () throws(ConnectorError) -> DeliveryLock,
            clock: any HostClock,
            jitter: @escaping @Sendable (UInt64) -> UInt64,
            executor: any TaskExecutor,
            onChange: @escaping @Sendable () -> Void
        ) {
            self.open = open
            self.lock = lock
            self.clock = clock
            self.jitter = jitter
            self.executor = executor
            self.onChange = onChange
        }
    }

    /// A connector that gets events from the outbox.
    package struct Target: Sendable {
        /// Its path.
        package var path: String
        /// How its outbox is filled and drained.
        package var policy: DeliveryPolicy
        /// What the adapter's manifest says of batches.
        package var limits: BatchLimits
        /// Whether it can take a batch now.
        package var isUsable: @Sendable () -> Bool
        /// Hands events of one capability to it; the answer has one element for each.
        package var send: @Sendable ([OutboxEvent]) async -> Result<[DeliveryAnswer], ConnectorError>

        /// Takes its parts.
        package init(
            path: String,
            policy: DeliveryPolicy,
            limits: BatchLimits,
            isUsable: @escaping @Sendable () -> Bool,
            send: @escaping @Sendable ([OutboxEvent]) async -> Result<[DeliveryAnswer], ConnectorError>
        ) {
            self.path = path
            self.policy = policy
            self.limits = limits
            self.isUsable = isUsable
            self.send = send
        }
    }

    private struct State {
        /// The engine, or the attempt to open it.
        var engine: OneShot<Result<any OutboxEngine, ConnectorError>>?
        var standings: [String: Standing] = [:]
        var deliveries: [String: Delivery] = [:]
        var lock: DeliveryLock?
        /// Whether the deliveries are wanted.
        var isDraining = false
        var isClosing = false
        /// Looks for what other processes have done.
        var timer: HostTimer?
        var version: Int64?
        /// Those who wait for room.
        var waiting: [OneShot<Void>] = []
    }

    private let environment: Environment
    private let targets: [String: Target]
    private let state = Mutex(State())
    let receipts = ReceiptBook()
    /// How often the outbox looks for what other processes have done.
    private static let interval: UInt64 = 1_000_000_000

    /// Prepares an outbox; opens and starts nothing.
    package init(_ targets: [Target], _ environment: Environment) {
        self.environment = environment
        self.targets = Dictionary(targets.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    }

    // MARK: The engine

    /// The engine, opened if it was not.
    package func engine() async throws(ConnectorError) -> any OutboxEngine {
        let (event, opens) = state.withLock { state in
            if let engine = state.engine, (try? engine.value?.get()) != nil || engine.value == nil {
                return (engine, false)
            }
            let event = OneShot<Result<any OutboxEngine, ConnectorError>>()
            state.engine = event
            return (event, true)
        }
        guard opens else { return try await event.wait().get() }
        do throws(ConnectorError) {
            let engine = try await environment.open()
            let standings = try await engine.standings()
            state.withLock { $0.standings = standings }
            event.send(.success(engine))
        } catch {
            event.send(.failure(error))
            throw error
        }
        if state.withLock({ $0.isDraining }) { await deliver() }
        return try await event.wait().get()
    }

    /// Whether the engine is open.
    package var isOpen: Bool { state.withLock { $0.engine?.value.flatMap { try? $0.get() } != nil } }

    // MARK: Filling

    /// Stores events for connectors in one step; returns once they are stable.
    ///
    /// A connector whose outbox is full follows its policy: the caller waits, or events are dropped.
    ///
    /// - Returns: The connectors that the events are stored for.
    package func append(_ events: [OutboxEvent], to paths: [String]) async throws(ConnectorError) -> [String] {
        let engine = try await engine()
        let bytes = events.reduce(0) { $0 + $1.payload.count }
        var taking: [String] = []
        for path in paths where try await makeRoom(bytes, events.count, at: path, engine) { taking.append(path) }
        guard !taking.isEmpty else { return [] }
        let isNew = try await engine.append(events, to: taking)
        let new = zip(events, isNew).filter(\.1).map(\.0)
        let newBytes = new.reduce(0) { $0 + $1.payload.count }
        let (deliveries, started) = state.withLock { state in
            for path in taking {
                state.standings[path, default: Standing()].queued += new.count
                state.standings[path]?.bytes += newBytes
                if state.standings[path]?.oldest == nil { state.standings[path]?.oldest = new.first?.createdAt }
            }
            let deliveries = taking.compactMap { state.deliveries[$0] }
            return (deliveries, taking.compactMap { begin($0, engine, &state) })
        }
        // Which connectors a known event is new for, the engine alone knows.
        if new.count < events.count { try? await refresh(engine) }
        run(started)
        for delivery in deliveries { delivery.arrived() }
        environment.onChange()
        return taking
    }

    /// Makes room as the policy says.
    ///
    /// - Returns: Whether the events may be stored for the connector.
    private func makeRoom(
        _ bytes: Int,
        _ count: Int,
        at path: String,
        _ engine: any OutboxEngine
    ) async throws(ConnectorError) -> Bool {
        guard let policy = targets[path]?.policy, let most = policy.maximumBytes else { return true }
        while true {
            let room = OneShot<Void>()
            let excess = state.withLock { state in
                let waiting = state.standings[path]?.bytes ?? 0
                // An event that is larger than the outbox may enter it alone.
                let excess = waiting == 0 ? 0 : waiting + bytes - most
                if excess > 0, policy.whenFull == .block { state.waiting.append(room) }
                return excess
            }
            guard excess > 0 else { return true }
            switch policy.whenFull {
            case .block:
                guard await room.waitUnlessCancelled() != nil else {
                    throw ConnectorError(
                        .cancelled,
                        "the task was cancelled while the outbox was full",
                        connector: path
                    )
                }
                guard !state.withLock(\.isClosing) else {
                    throw ConnectorError(.notOpen, "the host closed while the outbox was full", connector: path)
                }
            case .dropNewest:
                state.withLock { $0.standings[path, default: Standing()].dropped += count }
                return false
            case .dropOldest:
                let dropped = try await engine.dropOldest(excess, of: path)
                try await refresh(engine)
                guard dropped > 0 else { return true }
            }
        }
    }

    // MARK: Draining

    /// Opens the engine, so that the standings are known; delivers nothing.
    package func inspect() async throws(ConnectorError) { _ = try await engine() }

    /// Takes the right to deliver at once.
    ///
    /// - Throws: `conflict` if another process has it; `storage` if the outbox cannot be used.
    package func claim() async throws(ConnectorError) {
        _ = try await engine()
        try state.withLock { state throws(ConnectorError) in
            if state.lock == nil { state.lock = try environment.lock() }
        }
    }

    /// Starts to deliver, at once if there are events, and otherwise when the first one comes.
    ///
    /// - Parameter isStored: Whether an earlier process may have left events.
    package func start(isStored: Bool) async throws(ConnectorError) {
        state.withLock { $0.isDraining = true }
        guard !isOpen else { return await deliver() }
        guard isStored else { return }
        do throws(ConnectorError) {
            _ = try await engine()
        } catch {
            // Servers that are away now may be back in a while.
            state.withLock { watch(&$0) }
            throw error
        }
    }

    /// Starts the deliveries, unless another process has the right to deliver.
    private func deliver() async {
        guard let engine = try? await engine() else { return }
        let started = state.withLock { state -> [Delivery] in
            guard state.isDraining, !state.isClosing else { return [] }
            watch(&state)
            if state.lock == nil { state.lock = try? environment.lock() }
            guard state.lock != nil else { return [] }
            return state.standings.keys.compactMap { begin($0, engine, &state) }
        }
        run(started)
        environment.onChange()
    }

    /// Makes the delivery of a connector that has events; nil if there is one, or nothing is to be delivered here.
    private func begin(_ path: String, _ engine: any OutboxEngine, _ state: inout State) -> Delivery? {
        guard state.isDraining, !state.isClosing, state.lock != nil, state.deliveries[path] == nil else { return nil }
        guard let target = targets[path] else { return nil }
        let delivery = delivery(to: target, engine)
        state.deliveries[path] = delivery
        return delivery
    }

    private func run(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            Task(executorPreference: environment.executor) { await delivery.run() }
        }
    }

    private func delivery(to target: Target, _ engine: any OutboxEngine) -> Delivery {
        Delivery(
            target.path,
            target.policy,
            limits: target.limits,
            Delivery.Line(
                engine: engine,
                clock: environment.clock,
                jitter: environment.jitter,
                isUsable: target.isUsable,
                send: target.send,
                onSettled: { [weak self] batch, fates, failures in self?.settled(batch, fates, failures) },
                onChange: environment.onChange
            )
        )
    }

    /// Looks again after a while.
    private func watch(_ state: inout State) {
        guard state.timer == nil else { return }
        state.timer = environment.clock.schedule(after: Self.interval) { [weak self] in
            guard let self else { return }
            Task(executorPreference: self.environment.executor) { [weak self] in await self?.look() }
        }
    }

    /// Takes on what other processes have appended, replayed or dropped, and the right to deliver once they are gone.
    private func look() async {
        let isWanted = self.state.withLock { state in
            state.timer = nil
            guard !state.isClosing else { return false }
            watch(&state)
            // The file of the lock may have been removed with the directory; the right is taken anew.
            if state.lock?.isInPlace == false { state.lock = (try? environment.lock()) ?? state.lock }
            return true
        }
        guard isWanted, let engine = try? await engine(), let version = try? await engine.version() else { return }
        let hasChanged = state.withLock { state in
            defer { state.version = version }
            return state.version != version
        }
        if hasChanged, (try? await refresh(engine)) != nil {
            for delivery in state.withLock({ Array($0.deliveries.values) }) { delivery.arrived() }
            await deliver()
        }
        if state.withLock({ $0.isDraining && $0.lock == nil }) { await deliver() }
    }

    /// Reads all standings anew.
    private func refresh(_ engine: any OutboxEngine) async throws(ConnectorError) {
        let standings = try await engine.standings()
        let waiting = state.withLock { state in
            state.standings = standings
            return state.waiting.take()
        }
        for room in waiting { room.send() }
        environment.onChange()
    }

    /// Takes note of what became of a batch, and tells those who wait for it.
    private func settled(_ batch: OutboxBatch, _ fates: [Fate], _ failures: [DeliveryFailure?]) {
        let now = environment.clock.wallTime()
        let waiting = state.withLock { state -> [OneShot<Void>] in
            var standing = state.standings[batch.target] ?? Standing()
            for (entry, fate) in zip(batch.entries, fates) {
                switch fate {
                case .waiting, .retry: continue
                case .delivered:
                    standing.delivered += 1
                    standing.lastDelivered = now
                case .dead: standing.dead += 1
                case .dropped: standing.dropped += 1
                }
                standing.queued = max(0, standing.queued - 1)
                standing.bytes = max(0, standing.bytes - entry.event.payload.count)
            }
            // The next event is at least as young as the last of this batch.
            standing.oldest = standing.queued == 0 ? nil : batch.entries.last?.event.createdAt ?? standing.oldest
            state.standings[batch.target] = standing
            return fates.contains { $0 != .waiting } ? state.waiting.take() : []
        }
        for room in waiting { room.send() }
        environment.onChange()
        guard !receipts.isEmpty else { return }
        for index in batch.entries.indices {
            let error = failures[index].map { ConnectorError($0.code, $0.reason, connector: batch.target) }
            receipts.publish(
                DeliveryChange(batch.target, fates[index].state, error: error),
                of: batch.entries[index].event.id
            )
        }
    }

    // MARK: Asking

    /// How a connector's outbox stands; nil if it never had an event.
    package func standing(of path: String) -> Standing? { state.withLock { $0.standings[path] } }

    /// What a connector's delivery is doing; nil if this process delivers nothing.
    package func condition(of path: String) -> Delivery.Condition? {
        state.withLock { $0.deliveries[path] }?.condition
    }

    /// Ends the waits for connectors that have opened. Cheap: call it after every change of any gate.
    package func gatesChanged() {
        for delivery in state.withLock({ Array($0.deliveries.values) }) where delivery.condition == .waitingForGate {
            if targets[delivery.target]?.isUsable() == true { delivery.urge() }
        }
    }

    /// Tells the deliveries to look at their connectors again: some have opened, or somebody asks for an attempt.
    package func urge(_ path: String? = nil) {
        let deliveries = state.withLock { state in
            path.map { path in state.deliveries[path].map { [$0] } ?? [] } ?? Array(state.deliveries.values)
        }
        for delivery in deliveries { delivery.urge() }
    }

    /// Waits until nothing waits any more for some connectors.
    ///
    /// - Returns: Whether nothing does; false at the limit.
    package func flush(_ paths: [String], within limit: Duration?) async -> Bool {
        let isEmpty = await limited(to: limit) { [self] in
            while !Task.isCancelled {
                let room = OneShot<Void>()
                let isEmpty = state.withLock { state in
                    let isEmpty = paths.allSatisfy { state.standings[$0]?.queued ?? 0 == 0 } || state.isClosing
                    if !isEmpty { state.waiting.append(room) }
                    return isEmpty
                }
                if isEmpty { return true }
                _ = await room.waitUnlessCancelled()
            }
            return false
        }
        return isEmpty == true && paths.allSatisfy { standing(of: $0)?.queued ?? 0 == 0 }
    }

    /// Runs something, but no longer than a limit.
    func limited<Value: Sendable>(to limit: Duration?, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        let result = OneShot<Value?>()
        let task = Task { result.send(await body()) }
        let value: Value?? = await withTaskCancellationHandler {
            if let limit { await result.wait(for: limit, on: environment.clock) } else { await result.wait() }
        } onCancel: {
            task.cancel()
            result.send(nil)
        }
        task.cancel()
        return value ?? nil
    }

    /// Tells how an event stands and what becomes of it, until that is final everywhere.
    func follow(_ id: String, at paths: [String], _ continuation: AsyncStream<DeliveryChange>.Continuation) {
        let open = Mutex(Set(paths))
        let reader = receipts.read(id) { change in
            continuation.yield(change)
            let isDone = open.withLock { open in
                if change.state.isFinal { open.remove(change.connector) }
                return open.isEmpty
            }
            if isDone { continuation.finish() }
        } end: {
            continuation.finish()
        }
        continuation.onTermination = { [receipts] _ in receipts.forget(reader, of: id) }
        Task {
            // Read after the registration, so that no change between the two is missed.
            guard let engine = try? await engine(),
                let records = try? await engine.records(RecordSelection(targets: Set(paths), ids: [id]))
            else { return continuation.finish() }
            for path in paths {
                let record = records.first { $0.target == path }
                // What the engine has forgotten was delivered, or dropped by an operator.
                let state = record.map { DeliveryChange.State($0) } ?? .delivered
                let failure = state == .delivered ? nil : record?.attempts.last?.failure
                let error = failure.map { ConnectorError($0.code, $0.reason, connector: path) }
                guard open.withLock({ $0.contains(path) }) else { continue }
                receipts.publish(DeliveryChange(path, state, error: error), of: id)
            }
        }
    }

    // MARK: Ending

    /// Stops the deliveries, each after the batch under way, and closes the engine. What is left stays stored.
    package func close() async {
        let (deliveries, engine, waiting) = state.withLock { state in
            state.isClosing = true
            if let timer = state.timer.take() { environment.clock.cancel(timer) }
            return (Array(state.deliveries.values), state.engine, state.waiting.take())
        }
        for room in waiting { room.send() }
        for delivery in deliveries { await delivery.stop() }
        if let engine = try? await engine?.wait().get() { await engine.close() }
        state.withLock { $0.lock = nil }
        receipts.finish()
    }
}

extension Fate {
    /// What it means for the event.
    fileprivate var state: DeliveryChange.State {
        switch self {
        case .waiting, .retry: .retrying
        case .delivered: .delivered
        case .dead: .dead
        case .dropped: .dropped
        }
    }
}

extension DeliveryChange.State {
    /// How a stored event stands.
    fileprivate init(_ record: OutboxRecord) {
        switch record.state {
        case .queued: self = record.attempts.isEmpty ? .queued : .retrying
        case .delivered: self = .delivered
        case .dead: self = .dead
        }
    }
}

extension Array {
    /// Empties the array, and returns what was in it.
    fileprivate mutating func take() -> [Element] {
        defer { self = [] }
        return self
    }
}
