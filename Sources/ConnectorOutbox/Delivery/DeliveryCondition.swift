// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// What the delivery of one connector is doing.
package enum DeliveryCondition: Sendable, Hashable {
    /// Nothing is due, a batch is still being filled, or the pace allows none yet.
    case idle
    /// A batch is under way; after a failure, it is the next attempt.
    case delivering(after: DeliveryFailure?)
    /// The connector is not open.
    case waitingForGate
    /// The vendor did not take the last batch; the next attempt is at that time.
    case paused(DeliveryFailure, until: Timestamp)

    /// Why the last attempt failed; nil if it did not.
    package var failure: DeliveryFailure? {
        switch self {
        case .paused(let failure, until: _): failure
        case .delivering(after: let failure): failure
        case .idle, .waitingForGate: nil
        }
    }
}
