// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that arrives once, for any number of waiters.
///
/// The first ``send(_:)`` counts; later ones change nothing. A waiter can stop waiting at a deadline or when its task is
/// cancelled; otherwise it waits for the value alone.
package final class OneShot<Value: Sendable>: Sendable {
    private typealias Waiter = UnsafeContinuation<Value?, Never>

    /// Where somebody who waits stands.
    @safe
    private enum Place {
        /// About to wait.
        case arriving
        case waiting(Waiter)
        /// Gave up before it waited.
        case left
    }

    private struct State {
        var value: Value?
        var places: [UInt64: Place] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Nothing has arrived.
    package init() {}

    /// The value, once it is there.
    package var value: Value? { state.withLock(\.value) }

    /// Delivers the value and resumes everybody who waits.
    ///
    /// - Returns: Whether it is the first.
    @discardableResult
    package func send(_ value: Value) -> Bool {
        let waiters = unsafe state.withLock { state -> [Waiter]? in
            guard state.value == nil else { return nil }
            state.value = value
            var waiters: [Waiter] = unsafe []
            for case .waiting(let waiter) in state.places.values { unsafe waiters.append(waiter) }
            state.places = [:]
            return unsafe waiters
        }
        guard let waiters = unsafe waiters else { return false }
        for index in unsafe waiters.indices { unsafe waiters[index].resume(returning: value) }
        return true
    }

    /// Waits for the value, however long that takes.
    package func wait() async -> Value {
        while true {
            if let value = await wait(as: nil) { return value }
        }
    }

    /// Waits for the value, but no longer than to a deadline.
    ///
    /// - Parameters:
    ///   - deadline: On the clock's monotonic time; the end of time starts no timer.
    ///   - clock: Whose time that is.
    /// - Returns: The value; nil at the deadline.
    package func wait(by deadline: UInt64, on clock: any HostClock) async -> Value? {
        if let value { return value }
        guard deadline < .max else { return await wait() }
        let ticket = ticket()
        let timer = clock.schedule(at: deadline) { [self] in leave(ticket) }
        defer { clock.cancel(timer) }
        return await wait(as: ticket)
    }

    /// Waits for the value, or for the cancellation of the caller's task.
    ///
    /// - Returns: The value; nil if the task was cancelled before.
    package func waitUnlessCancelled() async -> Value? {
        if let value { return value }
        let ticket = ticket()
        return await withTaskCancellationHandler {
            await wait(as: ticket)
        } onCancel: {
            leave(ticket)
        }
    }

    private func ticket() -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.places[state.last] = .arriving
            return state.last
        }
    }

    /// - Parameter ticket: Whose place it is; nil for one that nobody can make leave.
    private func wait(as ticket: UInt64?) async -> Value? {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            /// Nil while there is no answer yet.
            var answer: Value??
            state.withLock { state in
                if let value = state.value {
                    answer = .some(value)
                } else if let ticket, case .left = state.places[ticket] {
                    state.places[ticket] = nil
                    answer = .some(nil)
                } else {
                    let place = ticket ?? state.last + 1
                    state.last = max(state.last, place)
                    state.places[place] = unsafe .waiting(waiter)
                }
            }
            if case .some(let value) = answer { unsafe waiter.resume(returning: value) }
        }
    }

    /// Resumes one waiter without a value, if it still waits for one.
    private func leave(_ ticket: UInt64) {
        let waiter = unsafe state.withLock { state -> Waiter? in
            switch state.places[ticket] {
            case .arriving:
                state.places[ticket] = .left
                return nil
            case .waiting(let waiter):
                state.places[ticket] = nil
                return unsafe waiter
            case .left, nil: return nil
            }
        }
        unsafe waiter?.resume(returning: nil)
    }
}

extension OneShot<Void> {
    /// Delivers that it has happened.
    @discardableResult
    package func send() -> Bool { send(()) }
}
