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
    /// The path of a file with the certificates of the authorities that may vouch for the server; nil for the system's.
    package var authorities: String?
    /// Whether the connection is encrypted even if the URL does not say so.
    package var isEncrypted: Bool

    /// Takes the settings.
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
