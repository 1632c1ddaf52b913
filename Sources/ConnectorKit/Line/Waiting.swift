// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// One wait for a callback of the host: suspends a task, resumes it exactly once, and forwards cancellation.
///
/// The callback, the cancellation and the closure that starts the work may run concurrently, in any order.
final class Waiting<Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, PluginError>

    private struct State {
        var continuation: CheckedContinuation<Outcome, Never>?
        var outcome: Outcome?
        /// The host's id for the work, once started.
        var id: UInt64?
        var isCancelled = false
    }

    private let state = Mutex(State())

    /// Ends the wait; a second end is ignored.
    func finish(_ outcome: Outcome) {
        let continuation = state.withLock { state -> CheckedContinuation<Outcome, Never>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            defer { state.continuation = nil }
            return state.continuation
        }
        continuation?.resume(returning: outcome)
    }

    /// Retains this wait as the `user` of a callback.
    func retainedForCallback() -> UnsafeMutableRawPointer {
        unsafe Unmanaged.passRetained(self).toOpaque()
    }

    /// The wait behind the `user` of a callback that is running for the only time.
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
                    return state.isCancelled && state.outcome == nil
                }
                if isCancelled { cancel(id) }
            }
            return await withCheckedContinuation { continuation in
                let outcome = state.withLock { state -> Outcome? in
                    if state.outcome == nil { state.continuation = continuation }
                    return state.outcome
                }
                if let outcome { continuation.resume(returning: outcome) }
            }
        } onCancel: {
            let id = state.withLock { state -> UInt64? in
                defer { state.isCancelled = true }
                return state.isCancelled || state.outcome != nil ? nil : state.id
            }
            if let id { cancel(id) }
        }
    }
}
