// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

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
