// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// One call by name on its way through the plugin: it carries the admission to the thread that makes the call.
///
/// The function's thread leaves when the function has returned, and the caller of an asynchronous operation when it has
/// its outcome. The admission ends when both have left.
package final class CallInFlight: Sendable {
    /// The operation's function.
    package let function: PluginFunction

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
    /// The function may outlive the host, and every other reference to the rundown guard.
    private let rundown: RundownGuard

    /// Takes the admission of a call.
    ///
    /// - Parameter lasts: Whether the call goes on when the function has returned.
    package init(_ function: PluginFunction, _ threads: CallThreads, lasts: Bool, _ admission: consuming Admission) {
        self.function = function
        self.threads = threads
        rundown = admission.rundown
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
            if state.isInside { threads.entered(function) }
            return state.isInside
        }
    }

    /// Records that the function has returned, or never runs.
    package func functionLeaves() {
        let stop = state.withLock { state in
            if state.isInside {
                var function = function
                function.isOverdue = state.isLost
                threads.left(function)
            }
            state.isInside = false
            state.isLost = false
            return state.stop.take()
        }
        stop?()
        leave()
    }

    /// Records that the caller of an asynchronous operation has its outcome.
    package func leave() {
        let admission: Admission? = state.withLock { state in
            state.parties -= 1
            return state.parties == 0 ? state.admission.take() : nil
        }
        // End the admission outside the lock, where the next caller may enter, and before the rundown guard.
        _ = consume admission
        extendLifetime(rundown)
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
            threads.lost(function)
            return true
        }
    }
}
