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

/// Why a vendor did not take an event.
package struct DeliveryFailure: Sendable, Hashable {
    /// The kind.
    package var code: ConnectorError.Code
    /// The vendor's words, or the host's.
    package var reason: String
    /// What to do about it, if the outbox or the host knows; a vendor's answer has none.
    package var fix: String?

    /// Names a failure.
    package init(_ code: ConnectorError.Code, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    /// The failure of the outbox itself. The cause says more than the message, such as the permission that a user of NATS lacks.
    init(of error: ConnectorError) {
        self.init(error.code, error.message + (error.cause.map { ": \($0)" } ?? ""))
        fix = error.fix
    }
}

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
