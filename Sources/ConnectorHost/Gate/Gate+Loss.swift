// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// What a gate does when its instance is lost with its runner.
extension Gate {
    /// What the loss of a generation means.
    private enum Loss {
        /// Nothing: the generation neither received calls nor was the standby.
        case nothing
        /// Only what the plugin did in `close`, `cancel` or `destroy`: the gate was ending the generation.
        case late
        /// The gate has lost its standby.
        case standby
        /// The standby receives the calls.
        case takenOver(by: Generation, ConnectorError)
        /// The gate has failed.
        case gate
    }

    /// Ends a generation whose runner has ended. If it received the gate's calls, a gate on trial goes back to its
    /// earlier instance; otherwise the standby takes over; without one, the gate fails and heals. The loss of one that the gate
    /// was ending counts and is logged, since nothing else reports it.
    ///
    /// After five losses in a minute, the next attempt waits as long as after a permanent error, and the instance that
    /// then receives calls gets one at a time until one succeeds: see ``CircuitBreaker``.
    ///
    /// - Parameter isNews: False for a loss that was reported before, when the generation may not have been in use yet.
    func lost(_ generation: Generation, _ error: ConnectorError, isNews: Bool = true) {
        if rollBack(from: generation, shown(error)) {
            storage.withLock { $0.history.crashed() }
            generation.rememberLoss(shown(error))
            return dependencies.onChange()
        }
        let now = dependencies.clock.now()
        let loss = storage.withLock { storage -> Loss in
            if storage.standby.ready?.generation === generation {
                storage.standby.lose(shown(error))
                return .standby
            }
            guard storage.current === generation, storage.machine.isProved else {
                guard isNews, generation.state.withLock(\.isEnding) else { return .nothing }
                storage.history.crashed()
                return .late
            }
            storage.history.crashed()
            var error = error
            if let count = breaker.lostRunner(error, at: now) {
                error.message = "\(count) runners have ended in quick succession; the last: \(error.message)"
                error.isRetryable = false
            }
            storage.history.keep(generation)
            if let standby = takeOver(&storage, after: error) { return .takenOver(by: standby, error) }
            _ = storage.machine.instanceLost()
            rundown.shut()
            storage.current = nil
            storage.history.failed(shown(error), at: now)
            return .gate
        }
        generation.rememberLoss(shown(error))
        switch loss {
        case .nothing: return
        case .late:
            logger.warning("runner ended before the instance was destroyed", metadata: ["error": "\(shown(error))"])
            dependencies.onChange()
        case .standby:
            abandon(generation, as: .standby)
            missStandby(error)
            dependencies.onChange()
        case .takenOver(let standby, let error):
            instanceChanged()
            logger.warning("gate uses its standby", metadata: ["error": "\(shown(error))"])
            detach { await $0.drain(generation) }
            missStandby(error)
            scheduleProbe()
            dependencies.onChange()
            checkLoss(of: standby)
        case .gate:
            detach { _ in await generation.end() }
            hasFailed()
            renewStandby()
        }
    }

    /// Handles a loss that happened before the generation was put into use or became the standby.
    func checkLoss(of generation: Generation) {
        if let loss = generation.state.withLock(\.loss) { lost(generation, loss, isNews: false) }
    }
}
