// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Admits and releases the calls of one flow, and performs the actions of the execution state.
final class Turnstile: Sendable {
    /// Held for one decision at a time. Actions run outside the lock, because they may run a provider's cancellation
    /// handler.
    private let state: Mutex<ExecutionState<Turn>>

    /// Starts without any call.
    init(_ execution: Execution) {
        state = Mutex(ExecutionState(execution))
    }

    /// Admits a call.
    ///
    /// - Returns: The place of the call, or nil when the policy ignores it.
    func arrive() -> Turn? {
        let turn = Turn()
        let actions = state.withLock { $0.arrive(turn) }
        perform(actions)
        return actions.contains(.ignore(turn)) ? nil : turn
    }

    /// Releases a call that has ended.
    func leave(_ turn: Turn) {
        perform(state.withLock { $0.leave(turn) })
    }

    /// Performs actions in order.
    private func perform(_ actions: [ExecutionState<Turn>.Action]) {
        for action in actions {
            switch action {
            case .start(let turn, let delay): turn.start(after: delay)
            case .supersede(let turn): turn.supersede()
            case .ignore: continue
            }
        }
    }
}
