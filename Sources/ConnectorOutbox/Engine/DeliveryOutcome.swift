// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The outcome of an attempt for one event.
package enum DeliveryOutcome: Sendable, Hashable {
    /// It stays queued in its position, and is part of the next batch.
    case waiting
    /// The vendor has it.
    case delivered
    /// It is retried on its own at that time; later events go first.
    case retry(at: Timestamp)
    /// It is a dead letter: the vendor refuses it for good, or it is too old.
    case dead
}
