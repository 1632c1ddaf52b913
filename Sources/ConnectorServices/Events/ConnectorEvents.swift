// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The events of some connectors from now on, until the host closes or the listener stops.
///
/// Listening begins when this is made, not when the loop over it begins: nothing in between is lost. Each event is
/// delivered once, so one loop should take them. Dropping this and its iterators ends the listening.
public struct ConnectorEvents: AsyncSequence, Sendable {
    /// The type that `AsyncSequence` asks for.
    public typealias Element = ConnectorEvent
    /// Listening cannot fail.
    public typealias Failure = Never

    private let subscription: EventSubscription

    package init(_ subscription: EventSubscription) {
        self.subscription = subscription
    }

    /// Takes the events one after another.
    public func makeAsyncIterator() -> Iterator {
        Iterator(subscription: subscription)
    }

    /// Waits for one event after another; ends when the task is cancelled.
    public struct Iterator: AsyncIteratorProtocol {
        /// Kept, since the listening ends with it.
        package let subscription: EventSubscription

        /// The next event; nil at the end.
        public mutating func next() async -> ConnectorEvent? {
            await subscription.mailbox.next()
        }

        /// The next event; nil at the end.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> ConnectorEvent? {
            await subscription.mailbox.next()
        }
    }
}

/// Ends the listening when nobody has it any more.
package final class EventSubscription: Sendable {
    /// Where the events arrive.
    package let mailbox: EventMailbox
    private let onEnd: @Sendable () -> Void

    /// Listens until it is dropped.
    package init(_ mailbox: EventMailbox, onEnd: @escaping @Sendable () -> Void) {
        self.mailbox = mailbox
        self.onEnd = onEnd
    }

    deinit {
        onEnd()
    }
}
