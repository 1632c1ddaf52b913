// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// A call by name in progress; it carries the admission to the thread that makes the call.
///
/// The function's thread leaves when the function has returned, and the caller of an asynchronous operation leaves when it has
/// the outcome. The admission ends when both have left.
package final class CallInFlight: Sendable {
    /// The operation's function.
    package let function: PluginFunction

    /// How far the call has come.
    package enum Stage: Sendable {
        /// No thread has called the function yet.
        case waiting
        /// The function is running.
        case inside
        /// The function has returned, or will never run.
        case over
    }

    private struct State: ~Copyable {
        var admission: Admission?
        /// The number that have not left yet: the function's thread, and the caller of an asynchronous operation.
        var participants: Int
        var stage = Stage.waiting
        var isLost = false
        /// Stops the timer that watches the function.
        var stop: (@Sendable () -> Void)?
        var outputs: [CallOutput] = []
    }

    private let state: Mutex<State>
    private let threads: CallThreads
    /// A strong reference, because the function may outlive the host and every other reference to the guard.
    private let rundown: RundownGuard

    /// Creates the state of a call, and takes over its admission.
    ///
    /// - Parameter lasts: Whether the call continues after the function has returned.
    package init(_ function: PluginFunction, _ threads: CallThreads, lasts: Bool, _ admission: consuming Admission) {
        self.function = function
        self.threads = threads
        rundown = admission.rundown
        state = Mutex(State(admission: admission, participants: lasts ? 2 : 1))
    }

    /// The outputs of a synchronous function.
    package var outputs: [CallOutput] {
        get { state.withLock { $0.outputs } }
        set { state.withLock { $0.outputs = newValue } }
    }

    /// How far the call has come.
    package var stage: Stage { state.withLock { $0.stage } }

    /// Records that the function is about to run, if the call is still pending.
    ///
    /// - Returns: Whether it is.
    package func enter(if isPending: () -> Bool) -> Bool {
        state.withLock { state in
            guard isPending() else { return false }
            state.stage = .inside
            threads.entered(function)
            return true
        }
    }

    /// Records that the function has returned, or will never run, and that its thread has left.
    package func functionLeaves() {
        functionReturns()
        leave()
    }

    /// Records that the function has returned. Its thread still holds the admission, until ``leave()``.
    package func functionReturns() {
        let stop = state.withLock { state in
            if state.stage == .inside {
                var function = function
                function.isOverdue = state.isLost
                threads.left(function)
            }
            state.stage = .over
            state.isLost = false
            return state.stop.take()
        }
        stop?()
    }

    /// Records that the function's thread is done, or that the caller of an asynchronous operation has its outcome.
    package func leave() {
        let admission: Admission? = state.withLock { state in
            state.participants -= 1
            return state.participants == 0 ? state.admission.take() : nil
        }
        // End the admission outside the lock, because the next caller may enter then, and before releasing the guard.
        _ = consume admission
        extendLifetime(rundown)
    }

    /// Runs `stop`, which cancels the deadline's timer, once the function has returned; immediately if it already has.
    package func stopWatching(_ stop: @escaping @Sendable () -> Void) {
        let isInside = state.withLock { state in
            guard state.stage == .inside else { return false }
            state.stop = stop
            return true
        }
        if !isInside { stop() }
    }

    /// Marks the function's thread as lost if the function is still running at the deadline, after the call was given up.
    ///
    /// - Returns: Whether the thread is newly lost.
    package func isLostAtDeadline() -> Bool {
        state.withLock { state in
            guard state.stage == .inside, !state.isLost else { return false }
            state.isLost = true
            threads.lost(function)
            return true
        }
    }
}
