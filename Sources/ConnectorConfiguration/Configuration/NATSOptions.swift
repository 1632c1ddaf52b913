// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The NATS servers of an outbox, as configured by `outbox` in `connectors.json`.
package struct NATSOptions: Sendable, Hashable {
    /// One or more servers of a cluster, separated by commas: `nats://a:4222,nats://b:4222`.
    package var url: String
    /// The name of the stream.
    package var stream = "OUTBOX"
    /// The number of replicas of each event: 1, 3 or 5.
    package var replicas = 1
    /// The path of a NATS credentials file.
    package var credentials: String?
    /// The authentication token.
    package var token: String?
    /// The user name for ``password``.
    package var user: String?
    /// The user's password.
    package var password: String?
    /// The path of a file with the trusted CA certificates; nil for the system's.
    package var authorities: String?
    /// The path of a file with the certificate that the client shows; nil for none.
    package var certificate: String?
    /// The path of a file with the key of ``certificate``, which is a secret.
    package var key: String?
    /// Whether to use TLS even if the URL does not request it.
    package var isEncrypted = false
    /// The application whose events they are: the file's `name`, if it has one.
    package var application: String?
}
