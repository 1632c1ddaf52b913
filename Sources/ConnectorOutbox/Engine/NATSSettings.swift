// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The settings of an outbox in NATS, as configured by `outbox` in `connectors.json`: the servers, the credentials and the stream.
package struct NATSSettings: Sendable, Hashable {
    /// One or more servers of a cluster, separated by commas: `nats://a:4222,nats://b:4222`. If one begins with `tls://`, connections to
    /// all of them are encrypted.
    package var url: String
    /// The name of the stream; that of the dead letters is derived from it.
    package var stream: String
    /// The number of servers that store each event: 1, 3 or 5.
    package var replicas: Int
    /// The path of a file with the user's credentials.
    package var credentials: String?
    /// The token sent to the server; a secret.
    package var token: String?
    /// The path of a file with the certificates of trusted authorities; nil for those of the system.
    package var authorities: String?
    /// The path of a file with the certificate that this client shows; nil for none.
    package var certificate: String?
    /// The path of a file with the key of ``certificate``, which is a secret.
    package var key: String?
    /// Whether to use TLS even if the URL does not require it.
    package var isEncrypted: Bool
    /// The user of ``password``.
    package var user: String?
    /// The password sent to the server; a secret.
    package var password: String?
    /// The application whose events the stream keeps: the `name` of its file; nil if it has none.
    package var application: String?
    /// The timeouts and delays.
    package var waits = Waits()

    /// Timeouts and delays, in nanoseconds.
    package struct Waits: Sendable, Hashable {
        /// The timeout for connecting to a server, in which it has to answer more than once.
        package var connection: UInt64 = 5_000_000_000
        /// The timeout for a response, after which the request is repeated; a response that comes later counts, too.
        package var answer: UInt64 = 2_000_000_000
        /// How much longer than ``connection`` for each server of the list connecting may take in all: the library looks up names without
        /// a limit of its own, tries servers that others have named, and repeats attempts that are refused.
        package var excess: UInt64 = 10_000_000_000
        /// The timeout for closing a connection: the library sends what it holds, but first ends an attempt to reconnect, which may take
        /// ``connection``.
        package var closing: UInt64 = 8_000_000_000
        /// The delay before repeating a request that no server could handle.
        package var pause: UInt64 = 100_000_000
        /// The total timeout of a request; long enough for a cluster that has lost a node to elect a new leader.
        package var limit: UInt64 = 15_000_000_000

        /// Creates the default timeouts.
        package init() {}
    }

    /// Creates settings.
    package init(
        url: String,
        stream: String = "OUTBOX",
        replicas: Int = 1,
        token: String? = nil,
        isEncrypted: Bool = false
    ) {
        self.url = url
        self.stream = stream
        self.replicas = replicas
        self.token = token
        self.isEncrypted = isEncrypted
    }
}
