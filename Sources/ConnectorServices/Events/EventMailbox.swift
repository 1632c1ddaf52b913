// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import DequeModule
internal import Synchronization

/// The queue of events for one listener. Beyond its capacity, the oldest events are dropped and counted.
package final class EventMailbox: Sendable {
    private struct State {
        var events = Deque<ConnectorEvent>()
        /// The number of events lost since the last one taken.
        var missed = 0
        /// The listeners that wait, first come first; each gets an event, or nil at the end.
        var waiters = Deque<OneShot<ConnectorEvent?>>()
        var isFinished = false
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// Creates an empty mailbox.
    package init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// Adds an event.
    package func put(_ event: ConnectorEvent) {
        let waiter = state.withLock { state -> OneShot<ConnectorEvent?>? in
            guard !state.isFinished else { return nil }
            if let waiter = state.waiters.popFirst() { return waiter }
            if state.events.count == capacity {
                state.events.removeFirst()
                state.missed += 1
            }
            state.events.append(event)
            return nil
        }
        waiter?.send(event)
    }

    /// Finishes the mailbox. Events already queued can still be taken.
    package func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.send(nil) }
    }

    /// Awaits an event; nil at the end and when the task is cancelled.
    package func next() async -> ConnectorEvent? {
        if Task.isCancelled { return nil }
        let waiter = OneShot<ConnectorEvent?>()
        let event = state.withLock { state -> ConnectorEvent?? in
            if var event = state.events.popFirst() {
                event.missed = state.missed
                state.missed = 0
                return event
            }
            if state.isFinished { return .some(nil) }
            state.waiters.append(waiter)
            return nil
        }
        if let event { return event }
        if let event = await waiter.waitUnlessCancelled() { return event }
        let hasLeft = state.withLock { state in
            guard let index = state.waiters.firstIndex(where: { $0 === waiter }) else { return false }
            state.waiters.remove(at: index)
            return true
        }
        // An event that was put at the same time is not lost.
        return hasLeft ? nil : await waiter.wait()
    }
}
