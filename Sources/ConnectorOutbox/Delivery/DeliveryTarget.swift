// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

/// A connector that may get events from the outbox.
package struct DeliveryTarget: Sendable {
    /// Its path.
    package var path: String
    /// How its events are queued and delivered.
    package var policy: DeliveryPolicy
    /// Whether events are stored for it. One without a queue gets only what is in the outbox already, such as letters that are replayed.
    package var hasQueue: Bool
    /// What the adapter's manifest says of batches.
    package var limits: BatchLimits
    /// Whether it can take a batch now.
    package var isUsable: @Sendable () -> Bool
    /// Hands a batch to it; the answer has one element for each event.
    package var send: @Sendable (OutboxBatch) async -> Result<[DeliveryAnswer], ConnectorError>

    /// Describes a connector.
    package init(
        path: String,
        policy: DeliveryPolicy,
        hasQueue: Bool = true,
        limits: BatchLimits,
        isUsable: @escaping @Sendable () -> Bool,
        send: @escaping @Sendable (OutboxBatch) async -> Result<[DeliveryAnswer], ConnectorError>
    ) {
        self.path = path
        self.policy = policy
        self.hasQueue = hasQueue
        self.limits = limits
        self.isUsable = isUsable
        self.send = send
    }
}
