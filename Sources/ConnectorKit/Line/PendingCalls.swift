// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The tasks of the pending calls, by operation.
///
/// A call may end before its task is attached, because the task starts running before it exists as a value.
final class PendingCalls: Sendable {
    private enum Call {
        case starting
        case running(Task<Void, Never>)
        case cancelledWhileStarting
        /// The host cancelled the call and no longer awaits its completion.
        case cancelled
    }

    private let calls = Mutex<[UInt64: Call]>([:])

    /// Registers a call.
    func begin(_ operation: UInt64) {
        calls.withLock { $0[operation] = .starting }
    }

    /// Attaches a call's task, unless the call has ended.
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

    /// Removes a call, exactly once, before it completes.
    ///
    /// - Returns: Whether the host still awaits the completion.
    func end(_ operation: UInt64) -> Bool {
        switch calls.withLock({ $0.removeValue(forKey: operation) }) {
        case .starting, .running: true
        case .cancelledWhileStarting, .cancelled, nil: false
        }
    }

    /// Cancels a call's task; an unknown call is not an error.
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

    /// Cancels every pending call.
    func cancelAll() {
        for operation in calls.withLock({ Array($0.keys) }) { cancel(operation) }
    }
}
