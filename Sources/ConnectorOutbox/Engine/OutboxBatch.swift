// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// The most that one batch may hold.
package struct BatchLimits: Sendable, Hashable {
    /// The most events.
    package var count: Int
    /// The most bytes of payloads, with one for each separator. A single event may exceed it.
    package var bytes: Int

    /// Takes the limits.
    package init(count: Int = 500, bytes: Int = 500_000) {
        self.count = max(1, count)
        self.bytes = max(1, bytes)
    }
}

/// Some events of one connector, to be delivered together.
package struct OutboxBatch: Sendable {
    /// The connector.
    package var target: String
    /// The events, with the engine's own name for each.
    package var entries: [Entry]
    /// When the connector's next event is due, if none is now.
    package var nextDue: Timestamp?

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
        /// When the event was put back in the queue, which makes it young again; nil if it never was.
        package var renewedAt: Timestamp?
    }
}
