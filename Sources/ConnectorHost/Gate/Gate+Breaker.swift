// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import Logging

/// Calls through the gate's circuit breaker.
extension Gate {
    /// Tells typed calls whether they must ask the breaker.
    var watch: CallWatch { breaker.watch }

    /// Admits a call, unless the breaker is open.
    func beginWatched() throws(ConnectorError) -> CallTicket { try breaker.admit(at: dependencies.clock.now()) }

    /// Notes how an admitted call ended.
    func endWatched(_ ticket: CallTicket, _ error: ConnectorError?) {
        let error = error.map(shown)
        switch breaker.ended(ticket, with: error, at: dependencies.clock.now()) {
        case nil: return
        case .opened(let end):
            logger.warning("breaker opened", metadata: ["error": "\(error.map { "\($0)" } ?? "")"])
            // Time alone makes the breaker half-open, but deliveries wait for a change: announce one then.
            _ = dependencies.clock.schedule(at: end, dependencies.onChange)
        case .halfOpened: break
        case .closed: logger.info("breaker closed")
        }
        dependencies.onChange()
    }

    /// Whether calls reach the instance: the gate is usable, and its breaker does not refuse them.
    var isUsable: Bool {
        state.isUsable && !(breaker.isInvolved && breaker.refuses(at: dependencies.clock.now()))
    }
}
