// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorOneShot
internal import Synchronization

/// How events get in.
extension Outbox {
    /// Stores events for connectors in one step; returns once they are stable.
    ///
    /// A connector whose outbox is full follows its policy: the caller waits, or events are dropped.
    ///
    /// - Returns: The connectors that the events are stored for.
    package func append(_ events: [OutboxEvent], to paths: [String]) async throws(ConnectorError) -> [String] {
        let engine = try await engine()
        let bytes = events.reduce(0) { $0 + $1.payload.count }
        var taking = paths
        if isBounded {
            taking = []
            for path in paths where try await makeRoom(bytes, events.count, at: path, engine) { taking.append(path) }
        }
        guard !taking.isEmpty else { return [] }
        let step = try await engine.append(events, to: taking)
        let isNew = !step.isApplied.contains(false)
        let new = isNew ? events : zip(events, step.isApplied).filter(\.1).map(\.0)
        let change = Standings.Change.appended(
            count: new.count,
            bytes: isNew ? bytes : new.reduce(0) { $0 + $1.payload.count },
            oldest: new.first?.createdAt
        )
        let (deliveries, started) = state.withLock { state in
            var (deliveries, started): ([Delivery], [Delivery]) = ([], [])
            for path in taking {
                state.standings.note(change, of: path, turn: step.turn)
                if let delivery = state.deliveries[path] {
                    deliveries.append(delivery)
                } else if let delivery = begin(path, engine, &state) {
                    started.append(delivery)
                }
            }
            return (deliveries, started)
        }
        // Which connectors a known event is new for, the engine alone knows.
        if !isNew { try? await refresh(engine) }
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
                let turn = try await engine.countDropped(count, of: path)
                state.withLock { $0.standings.note(.turnedAway(count: count), of: path, turn: turn) }
                environment.onChange()
                return false
            case .dropOldest:
                let dropped = try await engine.dropOldest(excess, of: path)
                try await refresh(engine)
                guard dropped > 0 else { return true }
            }
        }
    }
}
