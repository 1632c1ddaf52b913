// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorOneShot
internal import ConnectorPlatform
internal import Synchronization

/// How events stand, and what becomes of them.
extension Outbox {
    /// How a connector's outbox stands; nil if it never had an event.
    package func standing(of path: String) -> Standing? { state.withLock { $0.standings[path] } }

    /// How many events a second a connector's vendor took from this process within the last minute.
    package func rate(of path: String) -> Double {
        let now = environment.clock.now()
        return state.withLock { $0.rates[path]?.perSecond(at: now) ?? 0 }
    }

    /// What a connector's delivery is doing; nil if this process delivers nothing.
    package func condition(of path: String) -> Delivery.Condition? {
        state.withLock { $0.deliveries[path] }?.condition
    }

    /// Ends the waits for connectors that have opened. Cheap: call it after every change of any gate.
    package func gatesChanged() {
        let waiting = state.withLock { $0.deliveries.values.filter { $0.condition == .waitingForGate } }
        for delivery in waiting where targets[delivery.target]?.isUsable() == true { delivery.urge() }
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
            // Other processes may have put something in since the last look.
            if let engine = openEngine { try? await takeUp(engine) }
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
        let follower = Follower(of: paths, continuation)
        let reader = receipts.read(id) { change in
            follower.tell(change)
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
                follower.begin(with: DeliveryChange(path, state, error: error))
            }
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
