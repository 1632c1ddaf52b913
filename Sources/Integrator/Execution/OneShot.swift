// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that arrives once, for any number of awaiting tasks.
///
/// Cancellation does not end the wait. A task that must not wait fulfils the value from its cancellation handler.
final class OneShot<Value: Sendable>: Sendable {
    /// The value, or the tasks that await it.
    private enum State {
        /// Not yet fulfilled.
        case awaited(by: [CheckedContinuation<Value, Never>])
        /// Fulfilled for good.
        case fulfilled(Value)
    }

    /// Held for a few instructions at a time; tasks resume outside the lock.
    private let state = Mutex(State.awaited(by: []))

    /// Delivers the value; only the first delivery counts.
    func fulfil(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .fulfilled(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, once delivered.
    var value: Value {
        get async {
            await withCheckedContinuation { continuation in
                let present = state.withLock { state -> Value? in
                    switch state {
                    case .fulfilled(let value):
                        return value
                    case .awaited(let waiting):
                        state = .awaited(by: waiting + [continuation])
                        return nil
                    }
                }
                if let present { continuation.resume(returning: present) }
            }
        }
    }
}
