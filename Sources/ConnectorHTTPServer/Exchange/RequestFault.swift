// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Why a request is refused before anything answers it: it breaks a rule of HTTP/1.1, or exceeds a limit.
package struct RequestFault: Error, Sendable, Hashable {
    /// The HTTP status of the refusal.
    package var status: Int
    /// What is wrong, for the client's author.
    package var reason: String

    /// Refuses with 400.
    init(_ reason: String) {
        self.init(400, reason)
    }

    /// Refuses with a status of its own.
    init(_ status: Int, _ reason: String) {
        self.status = status
        self.reason = reason
    }
}
