// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Admits and releases the calls of one flow, and performs the actions of the execution state.
final class CallScheduler: Sendable {
    /// The state; the lock is held for one decision at a time. Actions run outside it, because they may run a
    /// provider's cancellation handler.
    private let state: Mutex<ExecutionState<CallTicket>>

    /// Starts without calls.
    init(_ execution: Execution) {
        state = Mutex(ExecutionState(execution))
    }

    /// Admits a call.
    ///
    /// - Returns: The ticket of the call, or nil if the policy ignores it.
    func admit() -> CallTicket? {
        let ticket = CallTicket()
        let actions = state.withLock { $0.arrive(ticket) }
        perform(actions)
        return actions.contains(.ignore(ticket)) ? nil : ticket
    }

    /// Releases a call that has ended.
    func release(_ ticket: CallTicket) {
        perform(state.withLock { $0.leave(ticket) })
    }

    /// Performs actions in order.
    private func perform(_ actions: [ExecutionState<CallTicket>.Action]) {
        for action in actions {
            switch action {
            case .start(let ticket, let delay): ticket.start(after: delay)
            case .supersede(let ticket): ticket.supersede()
            case .ignore: continue
            }
        }
    }
}
