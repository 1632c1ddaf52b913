// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// One attempt, or several in a row with the same result.
package struct PastAttempt: Sendable, Hashable {
    /// When the first of them began.
    package var at: Timestamp
    /// When the last of them began.
    package var until: Timestamp
    /// The number of attempts.
    package var count: Int
    /// Why they failed; nil for the one that succeeded.
    package var failure: DeliveryFailure?

    /// Describes attempts with one result.
    package init(at: Timestamp, until: Timestamp, count: Int, failure: DeliveryFailure? = nil) {
        self.at = at
        self.until = until
        self.count = count
        self.failure = failure
    }
}
