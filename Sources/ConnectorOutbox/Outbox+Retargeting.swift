// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Following a tree of connectors that changes while events wait.
extension Outbox {
    /// Keeps what is stored from now on for connectors that are about to be targets. Call it before anyone sends events to them, and
    /// ``retarget(_:by:)`` soon after.
    ///
    /// - Parameter paths: All connectors that there will be.
    package func expect(_ paths: Set<String>) {
        state.withLock { state in
            state.removed.formUnion(state.expected.subtracting(paths))
            state.expected = paths.subtracting(state.targets.keys)
        }
    }

    /// Delivers to these connectors from now on.
    ///
    /// A connector that stays keeps its queue. Its delivery restarts after the current batch if its policy has changed; a wait that
    /// the vendor has asked for continues. The events of a connector that is gone become dead letters; this returns once they have.
    ///
    /// - Parameter deadline: When batches under way are abandoned, by the outbox's clock. They stay stored.
    package func retarget(_ targets: [DeliveryTarget], by deadline: UInt64) async {
        let (previous, done) = state.withLock { state in
            state.removed.formUnion(state.targets.keys)
            state.targets = Dictionary(targets.map { ($0.path, $0) }) { first, _ in first }
            for path in state.targets.keys { state.renames[path] = nil }
            state.expected.subtract(state.targets.keys)
            state.removed.subtract(state.targets.keys)
            state.unsettled.subtract(state.targets.keys)
            let done = OneShot<Void>()
            defer { state.retargeting = done }
            return (state.retargeting, done)
        }
        await previous?.wait()
        let ended = state.withLock { state in state.deliveries.values.filter { !state.keeps($0) } }
        await end(ended, by: deadline)
        // A connector that returns later inherits no pause.
        state.withLock { state in state.pauses = state.pauses.filter { state.targets[$0.key] != nil } }
        // An outbox in which nothing was stored stays unopened.
        if isOpen { await deliver() }
        await settleLateEvents(of: state.withLock(\.gone))
        done.send()
    }

    /// Moves everything that waits at a connector to another path, to which later events go. No connector has that path yet.
    ///
    /// - Parameter deadline: When a batch under way is abandoned, by the outbox's clock.
    package func move(_ path: String, to other: String, by deadline: UInt64) async {
        let delivery = state.withLock { state in
            state.renames[path] = other
            state.renames[other] = nil
            state.expected.remove(path)
            state.expected.insert(other)
            state.targets[path] = nil
            return state.deliveries[path]
        }
        await end(delivery.map { [$0] } ?? [], by: deadline)
        state.withLock { state in
            if let pause = state.pauses.removeValue(forKey: path) { state.pauses[other] = pause }
        }
        await settleLateEvents(of: [path])
    }

    /// Ends deliveries, so that others of the same connectors can begin.
    private func end(_ deliveries: [Delivery], by deadline: UInt64) async {
        await stop(deliveries, by: deadline)
        state.withLock { state in
            for delivery in deliveries where state.deliveries[delivery.path] === delivery {
                state.deliveries[delivery.path] = nil
                state.pauses[delivery.path] = delivery.unfinishedPause
            }
        }
    }

    /// Settles events that are stored for connectors that no longer exist: those of a moved connector follow it, others
    /// become dead letters.
    ///
    /// Only the process that delivers does so: another one may have an older tree.
    func settleLateEvents(of paths: [String]) async {
        guard let engine = openEngine, state.withLock({ $0.lock != nil }) else { return }
        for path in paths {
            let (isGone, other) = state.withLock { ($0.isGone(path), $0.renames[path]) }
            guard isGone else { continue }
            do throws(ConnectorError) {
                if let other { try await carry(path, to: other, engine) } else { try await bury(path, engine) }
                state.withLock { state in
                    state.unsettled.remove(path)
                    // What another host has taken, or the servers are about to have back, is moved with a later poll.
                    let isLeft = other != nil && state.statistics[path]?.queued ?? 0 > 0
                    if engine.isShared, isLeft { state.unsettled.insert(path) }
                }
            } catch {
                // Tried again with the next poll.
                state.withLock { _ = $0.unsettled.insert(path) }
                if !isClosing { setFault(error) }
            }
        }
    }

    /// Moves what waits at a path to another one.
    private func carry(_ path: String, to other: String, _ engine: any OutboxEngine) async throws(ConnectorError) {
        if try await engine.reassign(path, to: other) { return try await takeUp(engine) }
        let selection = RecordSelection(paths: [path], states: [.queued], limit: 1000)
        while true {
            let records = try await engine.records(selection)
            guard !records.isEmpty else { break }
            try await engine.store(records, alsoFor: other)
            let ids = Set(records.map(\.event.id))
            guard try await engine.drop(RecordSelection(paths: [path], ids: ids, states: [.queued])) > 0 else {
                break
            }
        }
        try await takeUp(engine)
    }

    /// Turns everything that waits at a path into dead letters, except what another host of a shared queue has taken, or is to
    /// retry later.
    private func bury(_ path: String, _ engine: any OutboxEngine) async throws(ConnectorError) {
        let failure = DeliveryFailure(.unknownConnector, "the connector is no longer in the configuration")
        // Those that wait for a retry are due at the end of time.
        let end = Timestamp(nanoseconds: UInt64(Int64.max))
        while state.withLock({ $0.isGone(path) && !$0.isClosing }) {
            let limits = BatchLimits(count: 1000, bytes: 16 << 20)
            let batch = try await engine.batch(for: path, upTo: limits, now: end)
            // The connector may have come back meanwhile: its delivery takes them from here.
            guard state.withLock({ $0.isGone(path) }) else { return }
            guard !batch.isEmpty else { return }
            let outcomes = batch.entries.map { _ in DeliveryOutcome.dead }
            let failures = batch.entries.map { _ in DeliveryFailure?.some(failure) }
            let attempt = Attempt(at: dependencies.clock.wallTime(), failures: failures)
            settled(batch, outcomes, failures, try await engine.settle(batch, outcomes, attempt))
        }
    }
}

extension Outbox.State {
    /// Whether a delivery continues unchanged.
    fileprivate func keeps(_ delivery: Delivery) -> Bool {
        guard let target = targets[delivery.path] else { return false }
        return target.policy == delivery.policy && target.policy.limits(target.limits) == delivery.limits
    }

    /// Whether there is no such connector, and none is about to be.
    func isGone(_ path: String) -> Bool { targets[path] == nil && !expected.contains(path) }

    /// The connectors that are gone but still have events.
    ///
    /// Connectors that no configuration of this process had are not among them: they stay as an earlier process left
    /// them.
    var gone: [String] {
        statistics.paths.filter { path in
            isGone(path) && statistics[path]?.queued ?? 0 > 0
                && (removed.contains(path) || renames[path] != nil)
        }
    }

    /// The connectors that are gone but got events since, none of which is under way; none while a change of the targets takes effect.
    var late: [String] {
        if let retargeting, retargeting.value == nil { return [] }
        return gone.filter { deliveries[$0] == nil }
    }

    /// The path to which a connector has moved; its own if it has not.
    func currentPath(of path: String) -> String {
        var current = path
        // Each step leaves a renamed path, so there are at most as many steps as renames.
        for _ in renames.indices {
            guard let next = renames[current] else { break }
            current = next
        }
        return current
    }

    /// The paths that a connector had before it moved.
    func names(of path: String) -> [String] {
        renames.keys.filter { currentPath(of: $0) == path }
    }
}
