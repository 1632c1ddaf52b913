// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A wait that a timer ends, or anybody else before it.
final class Pause: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<Void, Never>)
        case over
    }

    private let state = Mutex(State.running)

    /// Ends it; again is harmless.
    func end() {
        let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
            defer { state = .over }
            if case .awaited(let waiter) = state { return waiter }
            return nil
        }
        waiter?.resume()
    }

    /// Returns once it is over. For one waiter.
    func ended() async {
        await withCheckedContinuation { waiter in
            let isOver = state.withLock { state in
                if case .over = state { return true }
                state = .awaited(waiter)
                return false
            }
            if isOver { waiter.resume() }
        }
    }
}
