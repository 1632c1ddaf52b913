// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A value that arrives once and that any number of tasks may wait for.
///
/// Waiting does not end with cancellation: whoever must not wait fulfils the value from a cancellation handler.
final class OneShot<Value: Sendable>: Sendable {
    /// Whether the value is there, and who waits for it.
    private enum State {
        /// Not there yet.
        case awaited(by: [CheckedContinuation<Value, Never>])
        /// There for good.
        case fulfilled(Value)
    }

    /// Held for a few instructions at a time; nobody is resumed inside.
    private let state = Mutex(State.awaited(by: []))

    /// Delivers the value, unless one was delivered before: the first one stays.
    func fulfil(_ value: Value) {
        let waiting = state.withLock { state -> [CheckedContinuation<Value, Never>] in
            guard case .awaited(let waiting) = state else { return [] }
            state = .fulfilled(value)
            return waiting
        }
        for continuation in waiting { continuation.resume(returning: value) }
    }

    /// The value, as soon as it is there.
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
