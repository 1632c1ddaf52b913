// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// How far an append has come, for a caller that may give it up: it then knows whether the events may still be stored.
package final class AppendStage: Sendable {
    /// A stage of an append.
    enum Stage: Sendable {
        /// The outbox is being opened.
        case opening
        /// The queue of a connector has no room.
        case waiting(at: String)
        /// The engine has the events.
        case storing
    }

    private let state = Mutex<(stage: Stage, isAbandoned: Bool)>((.opening, false))

    /// Enters the next stage, unless the append was abandoned.
    ///
    /// - Throws: `cancelled` if it was.
    func enter(_ stage: Stage) throws(ConnectorError) {
        let isAbandoned = state.withLock { state in
            if !state.isAbandoned { state.stage = stage }
            return state.isAbandoned
        }
        if isAbandoned { throw ConnectorError(.cancelled, "the task was cancelled before the event was stored") }
    }

    /// Gives the append up: it enters no other stage.
    ///
    /// - Returns: The stage in which it was. Nothing is stored afterwards unless that is ``Stage/storing``.
    @discardableResult
    func abandon() -> Stage {
        state.withLock { state in
            state.isAbandoned = true
            return state.stage
        }
    }
}
