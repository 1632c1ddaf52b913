// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// How a gate goes back to its earlier instance: while a successor is on trial, its predecessor stays open and receives no calls.
extension Gate {
    /// Whether the current generation is on trial.
    var isOnTrial: Bool { storage.withLock { $0.predecessor != nil } }

    /// Ends the trial: the current generation has passed the test, and its predecessor ends.
    func endTrial() {
        guard let predecessor = storage.withLock({ $0.drainPredecessor() }) else { return }
        logger.info("gate keeps its successor after the trial")
        end(predecessor)
        dependencies.onChange()
    }

    /// Directs calls to the predecessor again, and lets the calls of the current generation finish.
    ///
    /// - Parameters:
    ///   - generation: The generation that is on trial; nil for the current one.
    ///   - error: Why the gate goes back.
    /// - Returns: Whether the gate has gone back.
    @discardableResult
    func rollBack(from generation: Generation? = nil, _ error: ConnectorError) -> Bool {
        let failed = storage.withLock { storage -> (ReadyGeneration, Generation?, UInt64)? in
            guard let predecessor = storage.predecessor, generation == nil || storage.current === generation,
                storage.machine.succeeded()
            else { return nil }
            storage.predecessor = nil
            adopt(predecessor.plan, &storage)
            let failed = storage.current
            directCalls(to: predecessor, &storage)
            return (predecessor, failed, storage.replacementCount)
        }
        guard let (predecessor, failed, replacements) = failed else { return false }
        logger.warning("gate goes back to its earlier instance", metadata: ["error": "\(error)"])
        if let failed { end(failed) }
        instanceChanged()
        scheduleProbe()
        renewStandby()
        checkLoss(of: predecessor.generation)
        dependencies.onChange()
        dependencies.rollbacks.note(
            Rollback(gate: self, plan: predecessor.plan, replacementCount: replacements, error: error)
        )
        return true
    }

    private func end(_ generation: Generation) {
        Task(executorPreference: dependencies.calls.gateThreads) { await self.drain(generation) }
    }
}

/// A gate that has gone back to its earlier instance.
struct Rollback: Sendable {
    let gate: Gate
    /// The plan that it has again.
    let plan: GatePlan
    /// The gate's ``Gate/replacementCount`` at that moment.
    let replacementCount: UInt64
    /// Why it has gone back.
    let error: ConnectorError
}

/// Tells the host that gates have gone back to earlier instances.
///
/// The gates need it before the host that listens exists, so the host connects its listener afterwards.
final class Rollbacks: Sendable {
    /// Receives a gate that has gone back.
    typealias Listener = @Sendable (Rollback) -> Void

    private let listener = Mutex<Listener?>(nil)

    /// Sets the listener.
    func connect(_ listener: @escaping Listener) {
        self.listener.withLock { $0 = listener }
    }

    /// Tells the listener.
    func note(_ rollback: Rollback) {
        listener.withLock(\.self)?(rollback)
    }
}
