// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// The subscriptions to what becomes of events, by the events' ids. It costs nothing while there are none.
final class ReceiptSubscriptions: Sendable {
    /// Names a subscription, for ``ReceiptSubscriptions/unsubscribe(_:from:)``.
    struct Subscription: Sendable, Hashable {
        fileprivate let number: UInt64
    }

    private struct State {
        var subscribers: [String: [UInt64: ReceiptSubscriber]] = [:]
        var next: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Whether there are no subscriptions.
    var isEmpty: Bool { state.withLock(\.subscribers.isEmpty) }

    /// The events that are subscribed to.
    var ids: Set<String> { state.withLock { Set($0.subscribers.keys) } }

    /// Tells a subscriber every change of an event from now on, on the thread of the change.
    func subscribe(_ subscriber: ReceiptSubscriber, to id: String) -> Subscription {
        state.withLock { state in
            state.next += 1
            state.subscribers[id, default: [:]][state.next] = subscriber
            return Subscription(number: state.next)
        }
    }

    /// Ends a subscription.
    func unsubscribe(_ subscription: Subscription, from id: String) {
        state.withLock { state in
            state.subscribers[id]?[subscription.number] = nil
            if state.subscribers[id]?.isEmpty == true { state.subscribers[id] = nil }
        }
    }

    /// Publishes a change to the subscribers of an event.
    func publish(_ change: DeliveryChange, of id: String) {
        let subscribers = state.withLock { $0.subscribers[id].map { Array($0.values) } ?? [] }
        for subscriber in subscribers { subscriber.send(change) }
    }

    /// Ends every subscription: the outbox closes.
    func finish() {
        let subscribers = state.withLock { $0.subscribers.values.flatMap { Array($0.values) } }
        for subscriber in subscribers { subscriber.finish() }
    }
}
