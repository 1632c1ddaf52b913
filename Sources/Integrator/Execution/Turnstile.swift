// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Where the calls of one flow arrive and leave, and where the decisions of the execution state are carried out.
final class Turnstile: Sendable {
    /// Held for one decision at a time; what was decided is done outside, because it may run a provider's cancellation.
    private let state: Mutex<ExecutionState<Turn>>

    /// Opens without any call.
    init(_ execution: Execution) {
        state = Mutex(ExecutionState(execution))
    }

    /// Takes in a call.
    ///
    /// - Returns: The place of the call, or nil when the policy ignores it.
    func arrive() -> Turn? {
        let turn = Turn()
        let actions = state.withLock { $0.arrive(turn) }
        perform(actions)
        return actions.contains(.ignore(turn)) ? nil : turn
    }

    /// Lets go of a call that has ended.
    func leave(_ turn: Turn) {
        perform(state.withLock { $0.leave(turn) })
    }

    /// Does what was decided.
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
