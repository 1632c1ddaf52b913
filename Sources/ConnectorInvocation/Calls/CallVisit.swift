// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

/// One call by name on its way through the plugin: it carries the admission to the thread that makes the call.
///
/// The function's thread leaves when the function has returned, and the caller of an asynchronous operation when it has
/// its outcome. The admission ends when both have left.
package final class CallVisit: Sendable {
    /// The operation's name.
    package let name: String

    private struct State: ~Copyable {
        var admission: Admission?
        /// Those who have not left: the function's thread, and perhaps the caller.
        var parties: Int
        /// Whether the function is running.
        var isInside = false
        var isLost = false
        /// Stops the timer that watches the function.
        var stop: (@Sendable () -> Void)?
        var outputs: [CallOutput] = []
    }

    private let state: Mutex<State>
    private let threads: CallThreads
    /// The function may outlive the host, and every other reference to the door.
    private let door: Door

    /// Takes the admission of a call.
    ///
    /// - Parameter lasts: Whether the call goes on when the function has returned.
    package init(_ name: String, _ threads: CallThreads, lasts: Bool, _ admission: consuming Admission) {
        self.name = name
        self.threads = threads
        door = admission.door
        state = Mutex(State(admission: admission, parties: lasts ? 2 : 1))
    }

    /// The outputs of a synchronous function.
    package var outputs: [CallOutput] {
        get { state.withLock { $0.outputs } }
        set { state.withLock { $0.outputs = newValue } }
    }

    /// Whether the function is running.
    package var isInside: Bool { state.withLock { $0.isInside } }

    /// Records that the function is about to run, if the call is still wanted.
    ///
    /// - Returns: Whether it is.
    package func enter(if isWanted: () -> Bool) -> Bool {
        state.withLock { state in
            state.isInside = isWanted()
            return state.isInside
        }
    }

    /// Records that the function has returned, or never runs.
    package func functionLeaves() {
        let (wasLost, stop) = state.withLock { state in
            state.isInside = false
            defer { state.isLost = false }
            return (state.isLost, state.stop.take())
        }
        stop?()
        if wasLost { threads.found(name) }
        leave()
    }

    /// Records that the caller of an asynchronous operation has its outcome.
    package func leave() {
        let admission: Admission? = state.withLock { state in
            state.parties -= 1
            return state.parties == 0 ? state.admission.take() : nil
        }
        // End the admission outside the lock, where the next caller may enter, and before the door.
        _ = consume admission
        extendLifetime(door)
    }

    /// Stops the timer of the deadline as soon as the function has returned, which may be now.
    package func stopWatching(_ stop: @escaping @Sendable () -> Void) {
        let isInside = state.withLock { state in
            if state.isInside { state.stop = stop }
            return state.isInside
        }
        if !isInside { stop() }
    }

    /// Counts the function's thread as lost if the function is still running at the deadline, once the call was given up.
    ///
    /// - Returns: Whether it is.
    package func isLostAtDeadline() -> Bool {
        state.withLock { state in
            guard state.isInside, !state.isLost else { return false }
            state.isLost = true
            threads.lose(name)
            return true
        }
    }
}
