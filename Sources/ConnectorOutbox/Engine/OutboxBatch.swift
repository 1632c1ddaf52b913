// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Some events of one connector, to be delivered together.
package struct OutboxBatch: Sendable {
    /// The connector.
    package var target: String
    /// The events, with the engine's own name for each.
    package var entries: [Entry]
    /// When the connector's next event is due, if none is now.
    package var nextDue: Timestamp?
    /// Whether the connector's next event does not fit: no later one can join the batch.
    package var isFull = false

    /// Collects events to be delivered together.
    package init(target: String, entries: [Entry], nextDue: Timestamp? = nil, isFull: Bool = false) {
        (self.target, self.entries, self.nextDue, self.isFull) = (target, entries, nextDue, isFull)
    }

    /// Why none of the events may be delivered: the store has altered them. Nil if they are intact; a batch never mixes
    /// both kinds.
    package var damage: DeliveryFailure? {
        guard entries.first?.isDamaged == true else { return nil }
        return DeliveryFailure(.storage, "damaged in the outbox: its checksum is another than when it was stored")
    }

    /// Whether there is nothing to deliver.
    package var isEmpty: Bool { entries.isEmpty }

    /// One event.
    package struct Entry: Sendable {
        /// The engine's name for it.
        package var position: Int64
        /// How many attempts it has had on its own.
        package var attempts: Int
        /// The event.
        package var event: OutboxEvent
        /// When the event was put back in the queue, which restarts its age; nil if it never was.
        package var renewedAt: Timestamp?
        /// Whether the store has altered the event, so that it must not be delivered.
        package var isDamaged = false
        /// When servers stored the event, by which they tell it from another one at its position; nil in engines without servers.
        package var storedAt: Timestamp?

        /// Describes an event of a batch.
        package init(
            position: Int64,
            attempts: Int,
            event: OutboxEvent,
            renewedAt: Timestamp? = nil,
            isDamaged: Bool = false,
            storedAt: Timestamp? = nil
        ) {
            self.position = position
            self.attempts = attempts
            self.event = event
            self.renewedAt = renewedAt
            self.isDamaged = isDamaged
            self.storedAt = storedAt
        }
    }
}
