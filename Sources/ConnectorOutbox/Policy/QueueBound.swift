// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How much may wait for a connector, and what gives way when more comes.
package struct QueueBound: Sendable, Hashable {
    /// The most bytes of payloads. An event that is larger may wait alone.
    package var bytes: Int
    /// What to drop, or whether to wait, when the queue is full.
    package var whenFull: DeliveryPolicy.WhenFull

    /// Sets the bound of a queue.
    package init(bytes: Int, whenFull: DeliveryPolicy.WhenFull) {
        (self.bytes, self.whenFull) = (bytes, whenFull)
    }

    /// The number of bytes by which the queue would exceed the bound.
    package func excess(waiting: Int, adding: Int) -> Int {
        waiting == 0 ? 0 : max(0, waiting.saturatingAdding(adding).saturatingAdding(-max(0, bytes)))
    }
}
