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

    /// What changes while the outbox is in use.
    struct State {
        /// The engine, or the attempt to open it.
        var engine: OneShot<Result<any OutboxEngine, ConnectorError>>?
        /// The engine, once it is open.
        var opened: (any OutboxEngine)?
        var standings = Standings()
        var rates: [String: DeliveryRate] = [:]
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

    let environment: Environment
    let targets: [String: Target]
    /// Whether some outbox has a limit.
    let isBounded: Bool
    let state = Mutex(State())
    let receipts = ReceiptBook()

    /// Prepares an outbox; opens and starts nothing.
    package init(_ targets: [Target], _ environment: Environment) {
        self.environment = environment
        self.targets = Dictionary(targets.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
        isBounded = targets.contains { $0.policy.maximumBytes != nil }
    }

    // MARK: The engine

    /// The engine, opened if it was not.
    package func engine() async throws(ConnectorError) -> any OutboxEngine {
        // Almost every call finds it open.
        if let openEngine { return openEngine }
        let (event, opens) = state.withLock { state in
            if let engine = state.engine, state.opened != nil || engine.value == nil { return (engine, false) }
            let event = OneShot<Result<any OutboxEngine, ConnectorError>>()
            state.engine = event
            return (event, true)
        }
        guard opens else { return try await event.wait().get() }
        do throws(ConnectorError) {
            let engine = try await environment.open()
            do throws(ConnectorError) {
                try await refresh(engine)
            } catch {
                await engine.close()
                throw error
            }
            state.withLock { $0.opened = engine }
            event.send(.success(engine))
        } catch {
            event.send(.failure(error))
            throw error
        }
        if state.withLock({ $0.isDraining }) { await deliver() }
        return try await event.wait().get()
    }

    /// Whether the engine is open.
    package var isOpen: Bool { openEngine != nil }

    /// The engine, if it is open.
    var openEngine: (any OutboxEngine)? { state.withLock(\.opened) }

    /// What it takes to lose an event that is stored; nil until the engine is open.
    package var stability: String? { openEngine?.stability }

    /// Reads anew how the outboxes stand.
    func refresh(_ engine: any OutboxEngine) async throws(ConnectorError) {
        state.withLock { $0.standings.begin() }
        let reading: OutboxReading
        do throws(ConnectorError) {
            reading = try await engine.read()
        } catch {
            state.withLock { $0.standings.end(nil) }
            throw error
        }
        let waiting = state.withLock { state in
            state.standings.end(reading)
            return state.waiting.take()
        }
        for room in waiting { room.send() }
        environment.onChange()
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

extension Array {
    /// Empties the array, and returns what was in it.
    mutating func take() -> [Element] {
        defer { self = [] }
        return self
    }
}
