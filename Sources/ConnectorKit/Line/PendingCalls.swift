// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The tasks of the calls that have not completed, by operation.
///
/// A call may end before its task is known here, since the task starts running before it exists as a value.
final class PendingCalls: Sendable {
    private enum Call {
        case starting
        case running(Task<Void, Never>)
        case cancelledWhileStarting
        /// The host gave it up: its completion would be an answer to nobody.
        case cancelled
    }

    private let calls = Mutex<[UInt64: Call]>([:])

    /// Announces a call.
    func begin(_ operation: UInt64) {
        calls.withLock { $0[operation] = .starting }
    }

    /// Makes a call's task known, unless the call has ended.
    func attach(_ task: Task<Void, Never>, to operation: UInt64) {
        let isCancelled = calls.withLock { calls in
            switch calls[operation] {
            case .starting:
                calls[operation] = .running(task)
                return false
            case .cancelledWhileStarting:
                calls[operation] = .cancelled
                return true
            case .running, .cancelled, nil: return false
            }
        }
        if isCancelled { task.cancel() }
    }

    /// Forgets a call; exactly once, before it completes.
    ///
    /// - Returns: Whether the host still waits for its completion.
    func end(_ operation: UInt64) -> Bool {
        switch calls.withLock({ $0.removeValue(forKey: operation) }) {
        case .starting, .running: true
        case .cancelledWhileStarting, .cancelled, nil: false
        }
    }

    /// Cancels a call's task; an unknown call is no error.
    func cancel(_ operation: UInt64) {
        let task = calls.withLock { calls -> Task<Void, Never>? in
            switch calls[operation] {
            case .running(let task):
                calls[operation] = .cancelled
                return task
            case .starting: calls[operation] = .cancelledWhileStarting
            case .cancelledWhileStarting, .cancelled, nil: break
            }
            return nil
        }
        task?.cancel()
    }

    /// Cancels all that is under way.
    func cancelAll() {
        for operation in calls.withLock({ Array($0.keys) }) { cancel(operation) }
    }
}
