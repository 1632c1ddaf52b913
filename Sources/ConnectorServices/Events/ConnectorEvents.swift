// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The events of one or more connectors from now on, until the host closes, it and its clients are released, or the listener stops.
///
/// Listening begins when the sequence is created, not when a loop begins, so no event in between is lost. Each event is
/// delivered once, so only one loop should iterate. Dropping the sequence and its iterators stops listening.
public struct ConnectorEvents: AsyncSequence, Sendable {
    /// The type of the sequence's elements.
    public typealias Element = ConnectorEvent
    /// Listening cannot fail.
    public typealias Failure = Never

    private let subscription: EventSubscription

    package init(_ subscription: EventSubscription) {
        self.subscription = subscription
    }

    /// A sequence without events, which has ended.
    package static var ended: ConnectorEvents {
        let mailbox = EventMailbox(capacity: 1)
        mailbox.finish()
        return ConnectorEvents(EventSubscription(mailbox) {})
    }

    /// Creates an iterator that takes events from the shared mailbox.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription)
    }

    /// Awaits events one at a time; ends when the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        /// Keeps the subscription alive: dropping it stops listening.
        package let subscription: EventSubscription

        /// Awaits the next event; nil at the end.
        public mutating func next() async -> ConnectorEvent? {
            await subscription.mailbox.next()
        }

        /// Awaits the next event; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectorEvent? {
            await subscription.mailbox.next()
        }
    }
}

/// Stops listening when its last reference is dropped.
package final class EventSubscription: Sendable {
    /// The mailbox that receives the events.
    package let mailbox: EventMailbox
    private let onEnd: @Sendable () -> Void

    /// Keeps a mailbox listening until this object is dropped.
    package init(_ mailbox: EventMailbox, onEnd: @escaping @Sendable () -> Void) {
        self.mailbox = mailbox
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
