// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that arrives once, for any number of waiters.
///
/// Only the first ``send(_:)`` has an effect. ``wait()`` ignores cancellation of its task; ``waitUnlessCancelled()``
/// returns early. A waiter that may stop for another reason, such as a deadline, takes a ``Ticket``. Thread-safe.
package final class OneShot<Value: Sendable>: Sendable {
    private typealias Waiter = UnsafeContinuation<Value?, Never>

    /// Identifies one waiter, so that ``leave(_:)`` can resume it before the value arrives.
    package struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

    /// The state of one waiter.
    @safe
    private enum WaiterState {
        /// Holds a ticket, but has not begun to wait.
        case arriving
        case waiting(Waiter)
        /// Gave up before it began to wait.
        case left
    }

    private struct State {
        var value: Value?
        var waiters: [UInt64: WaiterState] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Creates a one-shot that has no value yet.
    package init() {}

    /// The value; nil until it arrives.
    package var value: Value? { state.withLock(\.value) }

    /// Delivers the value and resumes every waiter.
    ///
    /// - Returns: Whether this is the first value.
    @discardableResult
    package func send(_ value: Value) -> Bool {
        let waiters = state.withLock { state -> [UInt64: WaiterState]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.waiters = [:] }
            return state.waiters
        }
        guard let waiters else { return false }
        for case .waiting(let waiter) in waiters.values { unsafe waiter.resume(returning: value) }
        return true
    }

    /// Waits for the value, without a limit.
    package func wait() async -> Value {
        while true {
            if let value = await wait(at: nil) { return value }
        }
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

    /// Issues a ticket for exactly one ``wait(as:)``, which must follow.
    package func ticket() -> Ticket {
        state.withLock { state in
            state.last += 1
            state.waiters[state.last] = .arriving
            return Ticket(number: state.last)
        }
    }

    /// Waits for the value, or until ``leave(_:)`` is called with the ticket.
    ///
    /// - Returns: The value; nil if the ticket left first.
    package func wait(as ticket: Ticket) async -> Value? {
        await wait(at: ticket.number)
    }

    /// - Parameter number: The ticket's number; nil for a waiter that ``leave(_:)`` cannot resume.
    private func wait(at number: UInt64?) async -> Value? {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            /// Nil until there is an answer.
            var answer: Value??
            state.withLock { state in
                if let value = state.value {
                    answer = .some(value)
                } else if let number, case .left = state.waiters[number] {
                    state.waiters[number] = nil
                    answer = .some(nil)
                } else {
                    let place = number ?? state.last + 1
                    state.last = max(state.last, place)
                    state.waiters[place] = unsafe .waiting(waiter)
                }
            }
            if case .some(let value) = answer { unsafe waiter.resume(returning: value) }
        }
    }

    /// Resumes the ticket's waiter with nil. If it has not begun to wait, its wait returns nil at once.
    package func leave(_ ticket: Ticket) {
        let waiter = unsafe state.withLock { state -> Waiter? in
            switch state.waiters[ticket.number] {
            case .arriving:
                state.waiters[ticket.number] = .left
                return nil
            case .waiting(let waiter):
                state.waiters[ticket.number] = nil
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
