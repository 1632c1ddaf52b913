// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A wait that a timer ends, or anybody else before it.
final class Pause: Sendable {
    private typealias Waiter = UnsafeContinuation<Void, Never>

    @safe
    private enum State {
        case running
        case awaited(Waiter)
        case over
    }

    private let state = Mutex(State.running)

    /// Ends it; again is harmless.
    func end() {
        let waiter = unsafe state.withLock { state -> Waiter? in
            defer { state = .over }
            if case .awaited(let waiter) = state { return unsafe waiter }
            return nil
        }
        unsafe waiter?.resume()
    }

    /// Returns once it is over. For one waiter.
    func ended() async {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            let isOver = state.withLock { state in
                if case .over = state { return true }
                state = unsafe .awaited(waiter)
                return false
            }
            if isOver { unsafe waiter.resume() }
        }
    }
}
