// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// Appending events.
extension Outbox {
    /// Stores events for connectors in one step; returns once they are stable.
    ///
    /// A connector whose outbox is full follows its policy: the caller waits, or events are dropped.
    ///
    /// - Parameters:
    ///   - deadline: When to stop waiting for room, by the outbox's clock.
    ///   - stage: Learns how far the append has come, and can end it before the engine has the events; nil for none.
    /// - Returns: The connectors that the events are stored for.
    /// - Throws: `timed-out` or `cancelled` while it waits for room; `not-open` once the host closes; `storage`.
    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        by deadline: UInt64 = .max,
        stage: AppendStage? = nil
    ) async throws(ConnectorError) -> [String] {
        let bytes = events.reduce(0) { $0 + $1.payload.count }
        do throws(ConnectorError) {
            // Mostly in one step: the threads of many callers contend for the state.
            let (open, bounds) = state.withLock { state in
                let bounds = paths.reduce(into: [:]) { $0[$1] = state.targets[$1]?.policy.queueBound }
                return (state.isClosing ? nil : state.openEngine, bounds)
            }
            let engine = if let open { open } else { try await engine() }
            guard bounds.isEmpty else {
                return try await append(events, bytes, to: paths, within: bounds, engine, by: deadline, stage)
            }
            try stage?.enter(.storing)
            // Weak, so that an outbox never ends on the engine's thread: its caller has it.
            let step = try await engine.append(events, to: paths) { [weak self] step in
                self?.stored(events, bytes, step, for: paths, engine)
            }
            await finish(step, for: paths, engine)
            return paths
        } catch {
            if error.code == .storage, !isClosing { setFault(error) }
            guard error.code == .storage, isClosing else { throw error }
            // The engine closed under the call.
            var closed = ConnectorError.hostClosed
            closed.cause = error.message
            throw closed
        }
    }

    /// As ``append(_:to:by:stage:)``, but at the deadline the caller does not wait for the store either, such as for another process that
    /// has locked its file.
    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        noLaterThan deadline: UInt64
    ) async throws(ConnectorError) -> [String] {
        let (stage, ended) = (AppendStage(), OneShot<Result<[String], ConnectorError>>())
        let storing = Task { [self] in
            do throws(ConnectorError) {
                ended.send(.success(try await append(events, to: paths, by: deadline, stage: stage)))
            } catch {
                ended.send(.failure(error))
            }
        }
        let result = await withTaskCancellationHandler {
            await ended.wait(by: deadline, on: dependencies.clock)
        } onCancel: {
            stage.abandon()
            storing.cancel()
        }
        guard let result = result ?? ended.value else {
            let reached = stage.abandon()
            storing.cancel()
            throw late(reached)
        }
        return try result.get()
    }

    /// Says why events were not stored by the deadline, and whether they may be yet.
    ///
    /// - Parameter stage: How far their append had come.
    private func late(_ stage: AppendStage.Stage) -> ConnectorError {
        switch stage {
        case .opening:
            ConnectorError(
                .timedOut,
                "the outbox was not open by the call's deadline",
                fix:
                    "the event was not stored: find the process that keeps the outbox locked, such as one that salvages its damaged file, "
                    + "or send the event again later",
                isRetryable: true
            )
        case .waiting(let path): full(path)
        case .storing:
            ConnectorError(
                .timedOut,
                "the outbox had not stored the event by the call's deadline: another process may have locked it, or its disk or servers "
                    + "may be slow",
                fix: advice(
                    "the event may still be stored: look for it with connector-host outbox list before you send it again",
                    inMemory: "the event may still be stored, in memory: look at the report before you send it again"
                )
            )
        }
    }

    /// Stores events where the queues have room, in one step if the engine can; waits for room where the policy says so.
    private func append(
        _ events: [OutboxEvent],
        _ bytes: Int,
        to paths: [String],
        within bounds: [String: QueueBound],
        _ engine: any OutboxEngine,
        by deadline: UInt64,
        _ stage: AppendStage?
    ) async throws(ConnectorError) -> [String] {
        while true {
            // This process knows only its own events; the engine knows what the others have stored.
            try await waitForRoom(at: paths, bytes, within: bounds, by: deadline, stage) { _, _ in }
            try stage?.enter(.storing)
            let outcome = try await engine.append(events, to: paths, within: bounds) { [weak self] outcome in
                guard let self, outcome.full == nil else { return }
                noteDropped(outcome, of: events.count, among: paths)
                stored(events, bytes, outcome.step, for: outcome.paths, engine)
            }
            guard let outcome else {
                return try await appendReserved(events, bytes, to: paths, within: bounds, engine, by: deadline, stage)
            }
            guard outcome.full != nil else {
                await finish(outcome.step, for: outcome.paths, engine)
                return outcome.paths
            }
            try await refresh(engine)
        }
    }

    /// Records the events that a full queue has dropped.
    private func noteDropped(_ outcome: StoringOutcome, of count: Int, among paths: [String]) {
        guard !outcome.dropped.isEmpty || outcome.paths.count < paths.count else { return }
        let now = dependencies.clock.wallTime()
        state.withLock { state in
            for path in paths where !outcome.paths.contains(path) {
                state.statistics.note(.turnedAway(count: count), of: path, revision: outcome.step.revision)
            }
            for (path, dropped) in outcome.dropped {
                let change = StatisticsTracker.Change.settled(
                    delivered: 0,
                    dead: 0,
                    dropped: dropped.ids.count,
                    bytes: dropped.bytes,
                    oldest: dropped.oldest,
                    at: now
                )
                state.statistics.note(change, of: path, revision: outcome.step.revision)
            }
        }
        dependencies.onChange()
        for (path, dropped) in outcome.dropped { notifyDropped(dropped.ids, at: path) }
    }

    /// Counts events that were stored, and starts to deliver them: on the thread that has stored them, before their caller resumes.
    ///
    /// - Parameter reserved: The bytes that were reserved for them in each queue.
    private func stored(
        _ events: [OutboxEvent],
        _ bytes: Int,
        _ step: OutboxStep,
        for taking: [String],
        _ engine: any OutboxEngine,
        reserved: Int = 0
    ) {
        guard !taking.isEmpty else { return }
        let isNew = !step.isApplied.contains(false)
        let new = isNew ? events : zip(events, step.isApplied).filter(\.1).map(\.0)
        let change = StatisticsTracker.Change.appended(
            count: new.count,
            bytes: isNew ? bytes : new.reduce(0) { $0 + $1.payload.count },
            oldest: new.first?.createdAt
        )
        let (deliveries, started) = state.withLock { state in
            var (deliveries, started): ([Delivery], [Delivery]) = ([], [])
            if !state.isOut { state.fault = nil }
            for path in taking {
                state.statistics.note(change, of: path, revision: step.revision)
                state.release(reserved, of: path)
                if let delivery = state.deliveries[path] {
                    deliveries.append(delivery)
                } else if let delivery = begin(path, engine, &state) {
                    started.append(delivery)
                }
            }
            return (deliveries, started)
        }
        run(started)
        for delivery in deliveries { delivery.arrived(events.count, bytes: bytes.saturatingAdding(events.count)) }
        dependencies.onChange()
    }

    /// Does what the storing of events leaves to their caller, because the engine is needed again.
    private func finish(_ step: OutboxStep, for taking: [String], _ engine: any OutboxEngine) async {
        // Only the engine knows for which connectors a stored event is new.
        if !taking.isEmpty, step.isApplied.contains(false) { try? await refresh(engine) }
        // The connector was removed or moved between the caller's look at the tree and this step.
        let isLate = state.withLock { state in taking.contains(where: state.isGone) }
        if isLate { await settleLateEvents(of: taking) }
    }

    // MARK: Reserving

    /// Stores events in an engine that does not compare the queues with their bounds itself.
    ///
    /// Room is checked for and reserved in one step, so the callers of one host do not exceed a bound together. Hosts
    /// that share a queue do not see each other's reservations: each may exceed the bound by what it stores at that
    /// time.
    private func appendReserved(
        _ events: [OutboxEvent],
        _ bytes: Int,
        to paths: [String],
        within bounds: [String: QueueBound],
        _ engine: any OutboxEngine,
        by deadline: UInt64,
        _ stage: AppendStage?
    ) async throws(ConnectorError) -> [String] {
        var refused: [String] = []
        try await waitForRoom(at: paths, bytes, within: bounds, by: deadline, stage) { state, full in
            refused = full.filter { bounds[$0]?.whenFull == .dropNewest }
            for path in paths where !refused.contains(path) { state.reserved[path, default: 0] += bytes }
        }
        let taking = paths.filter { !refused.contains($0) }
        do throws(ConnectorError) {
            try stage?.enter(.storing)
            for path in refused {
                let revision = try await engine.countDropped(events.count, of: path)
                state.withLock { $0.statistics.note(.turnedAway(count: events.count), of: path, revision: revision) }
                dependencies.onChange()
            }
            for path in taking {
                if let bound = bounds[path], bound.whenFull == .dropOldest {
                    try await dropOldest(for: bytes, at: path, within: bound, engine)
                }
            }
            guard !taking.isEmpty else { return [] }
            let step = try await engine.append(events, to: taking) { [weak self] step in
                self?.stored(events, bytes, step, for: taking, engine, reserved: bytes)
            }
            await finish(step, for: taking, engine)
            return taking
        } catch {
            let waiting = state.withLock { state in
                for path in taking { state.release(bytes, of: path) }
                return state.waiters.take()
            }
            waiting.wake()
            throw error
        }
    }

    /// Drops the oldest events of a queue until there is room for reserved bytes.
    private func dropOldest(
        for bytes: Int,
        at path: String,
        within bound: QueueBound,
        _ engine: any OutboxEngine
    ) async throws(ConnectorError) {
        while true {
            let (excess, isAlone) = state.withLock { state in
                let reserved = state.reserved[path] ?? 0
                let waiting = state.statistics[path]?.bytes ?? 0
                return (bound.excess(waiting: waiting, adding: reserved), reserved <= bytes)
            }
            guard excess > 0 else { return }
            // Each of several callers drops as much as it adds.
            let dropped = try await engine.dropOldest(isAlone ? excess : min(excess, bytes), of: path)
            notifyDropped(dropped, at: path)
            try await refresh(engine)
            guard !dropped.isEmpty, isAlone else { return }
        }
    }

    // MARK: Waiting

    /// Waits until every queue that makes its callers wait has room, and runs a closure in the same step.
    ///
    /// - Parameter body: Receives the full queues, whose callers do not wait.
    private func waitForRoom(
        at paths: [String],
        _ bytes: Int,
        within bounds: [String: QueueBound],
        by deadline: UInt64,
        _ stage: AppendStage?,
        _ body: (inout State, _ full: [String]) -> Void
    ) async throws(ConnectorError) {
        while true {
            let blocking = state.withLock { state -> String? in
                let full = paths.filter { state.isFull($0, bounds[$0], bytes) }
                if let path = full.first(where: { bounds[$0]?.whenFull == .block }) { return path }
                body(&state, full)
                return nil
            }
            guard let blocking else { return }
            try stage?.enter(.waiting(at: blocking))
            try await waitForRoom(at: blocking, by: deadline) { !$0.isFull(blocking, bounds[blocking], bytes) }
        }
    }

    /// Waits until the queue of a connector may have room.
    ///
    /// - Throws: `timed-out`, which says why nothing leaves the queue; `cancelled`; `not-open` once the host closes.
    private func waitForRoom(
        at path: String,
        by deadline: UInt64,
        unless hasRoom: (State) -> Bool
    ) async throws(ConnectorError) {
        switch await waitForChange(by: deadline, unless: { $0.isClosing || hasRoom($0) }) {
        case .expired: throw full(path)
        case .cancelled:
            throw ConnectorError(.cancelled, "the task was cancelled while the outbox was full", connector: path)
        case .changed, nil:
            guard !isClosing else {
                throw ConnectorError(.notOpen, "the host closed while the outbox was full", connector: path)
            }
        }
    }

    /// Says that the queue of a connector had no room in time, and why.
    private func full(_ path: String) -> ConnectorError {
        let condition = condition(of: path)
        let (isDraining, isDelivering) = state.withLock { ($0.isDraining, $0.isDraining && $0.lock != nil) }
        let bytes = statistics(of: path)?.bytes ?? 0
        let reason =
            switch condition {
            case .paused(let failure, _), .delivering(let failure?): "the vendor takes no events: \(failure.reason)"
            case .waitingForGate: "the gate is not open"
            case .idle, .delivering: "the vendor takes events more slowly than they come"
            case nil where isDelivering: "the connector is not in the tree"
            case nil where !isDraining && dependencies.delivers: "the host is not open, and delivers nothing before"
            case nil:
                "this process does not deliver; connector-host status says why nothing leaves the queue of the one that does"
            }
        return ConnectorError(
            .timedOut,
            "the outbox was full until the call's deadline (\(bytes) bytes wait): \(reason)",
            fix:
                "the event was not stored: send it again later, or raise \"maxBytes\" or change \"whenFull\" of \"outbox\"",
            connector: path,
            isRetryable: true
        )
    }
}

extension Outbox.State {
    /// Whether a queue has no room for more bytes; false without a bound.
    fileprivate func isFull(_ path: String, _ bound: QueueBound?, _ bytes: Int) -> Bool {
        guard let bound else { return false }
        let waiting = (statistics[path]?.bytes ?? 0).saturatingAdding(reserved[path] ?? 0)
        return bound.excess(waiting: waiting, adding: bytes) > 0
    }

    /// Gives up bytes that were reserved in a queue.
    fileprivate mutating func release(_ bytes: Int, of path: String) {
        guard let reserved = reserved[path] else { return }
        self.reserved[path] = reserved > bytes ? reserved - bytes : nil
    }
}
