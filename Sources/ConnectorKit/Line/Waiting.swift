// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// One wait for a callback of the host: suspends a task, resumes it exactly once, and forwards cancellation.
///
/// The callback, the cancellation and the closure that starts the work may run concurrently, in any order.
final class Waiting<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, PluginError>

    private struct State {
        /// The host's id for the work, once it has started.
        var id: UInt64?
        var isCancelled = false
    }

    private let end = OneShot<Outcome>()
    private let state = Mutex(State())

    /// The host's id for the work, once it has started.
    var id: UInt64? { state.withLock(\.id) }

    /// Ends the wait; a second end is ignored.
    func finish(_ outcome: Outcome) {
        end.send(outcome)
    }

    /// Retains this wait as the `user` of a callback.
    func retainedForCallback() -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(self).toOpaque()
    }

    /// Takes back the reference of a callback that is running, which happens once.
    static func consumed(_ user: UnsafeMutableRawPointer?) -> Waiting<Value>? {
        guard let user = unsafe user else { return nil }
        return unsafe Unmanaged<Waiting<Value>>.fromOpaque(user).takeRetainedValue()
    }

    /// Releases the reference of a callback that is known never to run.
    func releaseCallback() {
        unsafe Unmanaged.passUnretained(self).release()
    }

    /// Starts the work and awaits its outcome.
    ///
    /// - Parameters:
    ///   - start: Starts the work, and returns the host's id for it; nil if it could not start and has finished the
    ///     wait.
    ///   - cancel: Cancels the work of an id. Called at most once, never before `start` has returned.
    func outcome(
        _ start: (Waiting<Value>) -> UInt64?,
        cancel: @escaping @Sendable (UInt64) -> Void
    ) async -> Outcome {
        await withTaskCancellationHandler {
            if let id = start(self) {
                let isCancelled = state.withLock { state in
                    state.id = id
                    return state.isCancelled
                }
                if isCancelled, end.value == nil { cancel(id) }
            }
            return await end.wait()
        } onCancel: {
            let id = state.withLock { state -> UInt64? in
                defer { state.isCancelled = true }
                return state.isCancelled ? nil : state.id
            }
            if let id, end.value == nil { cancel(id) }
        }
    }
}
