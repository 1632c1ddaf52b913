// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// One attempt to deliver a batch.
package struct Attempt: Sendable, Hashable {
    /// When it began.
    package var at: Timestamp
    /// For each event, why it was not delivered; nil if it was, or if it was not sent.
    package var failures: [DeliveryFailure?]

    /// Records an attempt at a whole batch.
    package init(at: Timestamp, failures: [DeliveryFailure?]) {
        self.at = at
        self.failures = failures
    }
}
