// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import DequeModule
internal import Synchronization

/// The queue of events for one listener. Beyond its capacity, the oldest events are dropped and counted.
package final class EventMailbox: Sendable {
    /// A waiting listener, with an id by which cancellation finds it.
    private struct Waiter {
        let id: UInt64
        let continuation: CheckedContinuation<ConnectorEvent?, Never>
    }

    private struct State {
        var events = Deque<ConnectorEvent>()
        /// The number of events lost since the last one taken.
        var missed = 0
        var waiters: [Waiter] = []
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
        let waiter = state.withLock { state -> Waiter? in
            guard !state.isFinished else { return nil }
            if !state.waiters.isEmpty { return state.waiters.removeFirst() }
            if state.events.count == capacity {
                state.events.removeFirst()
                state.missed += 1
            }
            state.events.append(event)
            return nil
        }
        waiter?.continuation.resume(returning: event)
    }

    /// Finishes the mailbox. Events already queued can still be taken.
    package func finish() {
        let waiters = state.withLock { state in
            state.isFinished = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume(returning: nil) }
    }

    /// Awaits an event; nil at the end and when the task is cancelled.
    package func next() async -> ConnectorEvent? {
        let id = ServiceIdentifier.next()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (isDecided, event) = state.withLock { state -> (Bool, ConnectorEvent?) in
                    // A cancellation after this check finds the waiter already registered.
                    if Task.isCancelled { return (true, nil) }
                    if var event = state.events.popFirst() {
                        event.missed = state.missed
                        state.missed = 0
                        return (true, event)
                    }
                    if state.isFinished { return (true, nil) }
                    state.waiters.append(Waiter(id: id, continuation: continuation))
                    return (false, nil)
                }
                if isDecided { continuation.resume(returning: event) }
            }
        } onCancel: {
            let waiter = state.withLock { state in
                state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
            }
            waiter?.continuation.resume(returning: nil)
        }
    }
}
