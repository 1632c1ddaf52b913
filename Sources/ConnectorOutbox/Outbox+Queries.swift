// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// The state of queues and deliveries, notices that change it, and waiting for changes.
extension Outbox {
    /// The statistics of a connector's queue; nil if it never had an event.
    package func statistics(of path: String) -> QueueStatistics? { state.withLock { $0.statistics[path] } }

    /// How many events wait for each connector that this process has never had, and to which nothing delivers them. None unless this
    /// process delivers, and none where hosts share the queues: another one may have the connector.
    package var orphans: [String: Int] {
        state.withLock { state in
            guard state.lock != nil, state.openEngine?.isShared == false else { return [:] }
            var orphans: [String: Int] = [:]
            for path in state.statistics.paths where state.isGone(path) && state.renames[path] == nil {
                let count = state.statistics[path]?.queued ?? 0
                if count > 0, !state.removed.contains(path) { orphans[path] = count }
            }
            return orphans
        }
    }

    /// Reads the statistics of all queues again, so that they include what other processes have stored; does nothing
    /// unless the outbox is open.
    package func reread() async {
        if let engine = openEngine { try? await refresh(engine) }
    }

    /// The paths of a connector's queue, the present one first, each with its statistics when this process opened the outbox; nil if
    /// it had had no event by then.
    package func firstStatistics(of path: String) -> [(path: String, statistics: QueueStatistics?)] {
        state.withLock { state in ([path] + state.names(of: path)).map { ($0, state.statistics.first?[$0]) } }
    }

    /// How many events a second a connector's vendor took from this process within the last minute.
    package func rate(of path: String) -> Double {
        let now = dependencies.clock.now()
        return state.withLock { $0.rates[path]?.perSecond(at: now) ?? 0 }
    }

    /// What a connector's delivery is doing; nil if this process delivers nothing.
    package func condition(of path: String) -> DeliveryCondition? {
        state.withLock { $0.deliveries[path] }?.condition
    }

    /// Makes the deliveries check their gates again. Call it after every change of any gate.
    package func gatesChanged() {
        let deliveries = state.withLock { state in
            state.deliveries.compactMap { path, delivery in state.targets[path].map { (delivery, $0) } }
        }
        for (delivery, target) in deliveries { delivery.gateChanged(isUsable: target.isUsable()) }
    }

    /// Ends the pause of a connector's delivery, and the waits of its single events: an operator wants an attempt now.
    package func wake(_ path: String) async {
        let delivery = state.withLock { state in
            state.pauses[path] = nil
            return state.deliveries[path]
        }
        guard let delivery else { return }
        delivery.willExpediteRetries()
        // If the store fails, the attempt reports it.
        if let engine = openEngine { try? await engine.expediteRetries(of: path, now: dependencies.clock.wallTime()) }
        delivery.wake()
    }

    /// Waits until the queues of some connectors are empty.
    ///
    /// - Parameter isStored: Whether an earlier process may have left events, which are unknown until the engine is open.
    /// - Returns: Whether they are empty; false if the limit came first.
    /// - Throws: `storage` if the engine cannot be opened; `not-open` if the outbox has closed, or closes while events wait; `cancelled`
    ///   if the caller's task was cancelled while they do.
    package func flush(
        _ paths: [String],
        within limit: Duration?,
        isStored: Bool
    ) async throws(ConnectorError) -> Bool {
        // Callers that do not wait do not trigger an engine read.
        let waits = limit.map { $0 > .zero } ?? true
        guard waits, !Task.isCancelled else { return try isFlushed(paths, isStored: isStored) }
        let end = await limited(to: limit) { [self] () -> Result<Bool, ConnectorError> in
            do throws(ConnectorError) {
                if !isOpen, isStored || isClosing { _ = try await engine() }
            } catch {
                return .failure(error)
            }
            // Other processes may have appended events since the last poll.
            if !Task.isCancelled, let engine = openEngine { try? await takeUp(engine) }
            while true {
                let end = await waitForChange { $0.isClosing || $0.areEmpty(paths) }
                switch end {
                case nil:
                    let isRefused = state.withLock { $0.isClosing && !$0.areEmpty(paths) }
                    return isRefused ? .failure(.hostClosed) : .success(true)
                case .changed: continue
                case .expired, .cancelled: return .success(false)
                }
            }
        }
        if try end?.get() == true { return true }
        return try isFlushed(paths, isStored: isStored)
    }

    /// Whether some queues are known to be empty, for a caller that waits no longer.
    private func isFlushed(_ paths: [String], isStored: Bool) throws(ConnectorError) -> Bool {
        let (isEmpty, isClosing) = state.withLock { state in
            let isKnown = state.openEngine != nil || !isStored && !state.isClosing
            return (isKnown && state.areEmpty(paths), state.isClosing)
        }
        if isEmpty { return true }
        if isClosing { throw .hostClosed }
        guard !Task.isCancelled else {
            throw ConnectorError(
                .cancelled,
                "the task was cancelled before the outbox was empty",
                fix: advice(
                    "the events stay in the outbox: connector-host outbox list",
                    inMemory: "the events stay in the outbox, in the memory of this process"
                )
            )
        }
        return false
    }

    /// What to do about events: with a command, or in the application if they are in its memory, where no command can see them.
    func advice(_ command: String, inMemory call: String) -> String { dependencies.isInMemory ? call : command }

    /// Runs a closure, and cancels it at a limit.
    func limited<Value: Sendable>(to limit: Duration?, _ body: @escaping @Sendable () async -> Value) async -> Value? {
        let result = OneShot<Value?>()
        let task = Task { result.send(await body()) }
        let value: Value?? = await withTaskCancellationHandler {
            if let limit { await result.wait(for: limit, on: dependencies.clock) } else { await result.wait() }
        } onCancel: {
            task.cancel()
            result.send(nil)
        }
        task.cancel()
        return value ?? nil
    }
}

extension Outbox.State {
    /// Whether a connector of the tree gets events: it has a queue, or events wait for it all the same.
    func receives(_ path: String) -> Bool {
        guard let target = targets[path] else { return false }
        return target.hasQueue || statistics[path]?.queued ?? 0 > 0
    }

    /// Whether no event waits in some queues.
    fileprivate func areEmpty(_ paths: [String]) -> Bool { paths.allSatisfy { statistics[$0]?.queued ?? 0 == 0 } }
}
