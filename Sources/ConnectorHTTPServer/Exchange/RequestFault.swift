// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why a request is refused before admission: it violates HTTP/1.1 or exceeds a limit.
package struct RequestFault: Error, Sendable, Hashable {
    /// The HTTP status of the refusal.
    package var status: Int
    /// The reason, for the developer of the client.
    package var reason: String

    /// Creates a refusal with the status 400.
    init(_ reason: String) {
        self.init(400, reason)
    }

    /// Creates a refusal with a status.
    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}
