// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Logging
internal import Synchronization

/// What a gate does when its instance is lost with its runner.
extension Gate {
    /// Ends a generation whose runner has ended, and heals the gate if that generation received its calls.
    ///
    /// After five losses in a minute, the next attempt waits as after an error that another attempt does not mend, and the gate that
    /// opens then gets one call at a time until one succeeds: ``CircuitBreaker``.
    func lost(_ generation: Generation, _ error: ConnectorError) {
        let now = environment.clock.now()
        let isCurrent = storage.withLock { storage in
            guard storage.current === generation, storage.machine.instanceLost() else { return false }
            storage.crashCount += 1
            var error = error
            if let count = breaker.lostRunner(error, at: now) {
                error.message = "\(count) runners have ended in quick succession; the last: \(error.message)"
                error.isRetryable = false
            }
            rundown.shut()
            storage.current = nil
            storage.counters = generation.counters
            storage.error = shown(error)
            if storage.outageStart == nil { storage.outageStart = now }
            return true
        }
        generation.rememberLoss(error)
        guard isCurrent else { return }
        detach { _ in await generation.end() }
        hasFailed()
    }

    /// Notices the loss of a generation that has just been taken into use.
    func checkLoss(of generation: Generation) {
        if let loss = generation.state.withLock(\.loss) { lost(generation, loss) }
    }
}
