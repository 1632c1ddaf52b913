// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that arrives once, for any number of waiters.
///
/// Only the first ``send(_:)`` has an effect. A waiter may stop at a deadline or when its task is cancelled; otherwise
/// it waits until the value arrives.
package final class OneShot<Value: Sendable>: Sendable {
    private typealias Waiter = UnsafeContinuation<Value?, Never>

    /// The state of one waiter.
    @safe
    private enum Place {
        /// Has a ticket, but does not wait yet.
        case arriving
        case waiting(Waiter)
        /// Gave up before it began to wait.
        case left
    }

    private struct State {
        var value: Value?
        var places: [UInt64: Place] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates it without a value.
    package init() {}

    /// The value; nil until it arrives.
    package var value: Value? { state.withLock(\.value) }

    /// Delivers the value and resumes every waiter.
    ///
    /// - Returns: Whether this is the first value.
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

    /// Waits for the value, without a limit.
    package func wait() async -> Value {
        while true {
            if let value = await wait(as: nil) { return value }
        }
    }

    /// Waits for the value until a deadline.
    ///
    /// - Parameters:
    ///   - deadline: On the clock's monotonic time; `UInt64.max` starts no timer.
    ///   - clock: The clock that measures the deadline.
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
    /// - Returns: The value; nil if the task was cancelled first.
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

    /// - Parameter ticket: The waiter's ticket; nil for a waiter that cannot leave.
    private func wait(as ticket: UInt64?) async -> Value? {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            /// Nil until there is an answer.
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

    /// Resumes one waiter without a value, if it still waits.
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
    /// Signals that the event has happened.
    @discardableResult
    package func send() -> Bool { send(()) }
}
