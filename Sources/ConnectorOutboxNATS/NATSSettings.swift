// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where the events of a `nats` outbox are kept, and how to get there.
package struct NATSSettings: Sendable, Hashable {
    /// One or more servers of a cluster, separated by commas: `nats://a:4222,nats://b:4222`.
    package var url: String
    /// The name of the stream; that of the dead letters is made from it.
    package var stream: String
    /// How many servers keep each event: 1, 3 or 5.
    package var replicas: Int
    /// The path of a file with the user's credentials.
    package var credentials: String?
    /// Shown to the server; a secret.
    package var token: String?
    /// The path of a file with the certificates of the certificate authorities that are trusted; nil for the system's.
    package var authorities: String?
    /// Whether the connection is encrypted even if the URL does not say so.
    package var isEncrypted: Bool
    /// The name that goes with ``password``.
    package var user: String?
    /// Shown to the server; a secret.
    package var password: String?
    /// How long to wait for servers.
    package var waits = Waits()

    /// How long to wait for servers, in nanoseconds.
    package struct Waits: Sendable, Hashable {
        /// For a server to take a connection.
        package var connection: UInt64 = 2_000_000_000
        /// For the answer to a request, before it is sent again.
        package var answer: UInt64 = 2_000_000_000
        /// Before a request is sent again that no server could answer.
        package var pause: UInt64 = 100_000_000
        /// Until a request fails; long enough for a cluster that has lost a node to elect another leader.
        package var limit: UInt64 = 15_000_000_000

        /// Uses the usual waits.
        package init() {}
    }

    /// Creates settings.
    package init(
        url: String,
        stream: String = "OUTBOX",
        replicas: Int = 1,
        credentials: String? = nil,
        token: String? = nil,
        authorities: String? = nil,
        isEncrypted: Bool = false
    ) {
        self.url = url
        self.stream = stream
        self.replicas = replicas
        self.credentials = credentials
        self.token = token
        self.authorities = authorities
        self.isEncrypted = isEncrypted
    }
}
