// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A value that arrives once, for any number of waiters.
///
/// The first ``send(_:)`` counts; later ones change nothing. ``wait()`` does not end with the cancellation of its task;
/// ``waitUnlessCancelled()`` does. A waiter with another reason to stop, such as a deadline, takes a ``Ticket``.
package final class OneShot<Value: Sendable>: Sendable {
    private typealias Waiter = UnsafeContinuation<Value?, Never>

    /// The place of one waiter, which may leave it before the value is there.
    package struct Ticket: Sendable {
        fileprivate let number: UInt64
    }

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
        let places = state.withLock { state -> [UInt64: Place]? in
            guard state.value == nil else { return nil }
            state.value = value
            defer { state.places = [:] }
            return state.places
        }
        guard let places else { return false }
        for case .waiting(let waiter) in places.values { unsafe waiter.resume(returning: value) }
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

    /// Takes a place, for one ``wait(as:)`` that must follow.
    package func ticket() -> Ticket {
        state.withLock { state in
            state.last += 1
            state.places[state.last] = .arriving
            return Ticket(number: state.last)
        }
    }

    /// Waits for the value, or until somebody makes the ticket leave.
    ///
    /// - Returns: The value; nil if the ticket left before.
    package func wait(as ticket: Ticket) async -> Value? {
        await wait(at: ticket.number)
    }

    /// - Parameter number: Of the ticket; nil for a place that nobody can make leave.
    private func wait(at number: UInt64?) async -> Value? {
        await unsafe withUnsafeContinuation { (waiter: Waiter) in
            /// Nil until there is an answer.
            var answer: Value??
            state.withLock { state in
                if let value = state.value {
                    answer = .some(value)
                } else if let number, case .left = state.places[number] {
                    state.places[number] = nil
                    answer = .some(nil)
                } else {
                    let place = number ?? state.last + 1
                    state.last = max(state.last, place)
                    state.places[place] = unsafe .waiting(waiter)
                }
            }
            if case .some(let value) = answer { unsafe waiter.resume(returning: value) }
        }
    }

    /// Resumes one waiter without a value, if it still waits for one; before it waits, it will not.
    package func leave(_ ticket: Ticket) {
        let waiter = unsafe state.withLock { state -> Waiter? in
            switch state.places[ticket.number] {
            case .arriving:
                state.places[ticket.number] = .left
                return nil
            case .waiting(let waiter):
                state.places[ticket.number] = nil
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
