// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The statistics of one connector's queue.
package struct QueueStatistics: Sendable, Hashable {
    /// How many events wait, including those tried before.
    package var queued = 0
    /// How many bytes the payloads of the waiting events have.
    package var bytes = 0
    /// When the oldest waiting event was sent.
    package var oldest: Timestamp?
    /// How many dead letters there are.
    package var dead = 0
    /// How many events the vendor has taken since the outbox was created.
    package var delivered = 0
    /// How many events were given up to make room.
    package var dropped = 0
    /// When the vendor last took an event.
    package var lastDelivered: Timestamp?

    /// Creates statistics of an empty queue.
    package init() {}
}
