// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The NATS servers of an outbox, as the member `outbox` of `connectors.json` describes them.
package struct NATSOptions: Sendable, Hashable {
    /// One or more servers of a cluster, separated by commas: `nats://a:4222,nats://b:4222`.
    package var url: String
    /// The name of the stream.
    package var stream = "OUTBOX"
    /// How many servers keep each event: 1, 3 or 5.
    package var replicas = 1
    /// The path of a file with the user's credentials.
    package var credentials: String?
    /// A secret shown to the server.
    package var token: String?
    /// The name that goes with ``password``.
    package var user: String?
    /// A secret shown to the server.
    package var password: String?
    /// The path of a file with the certificates of the authorities that may vouch for the server; nil for the system's.
    package var authorities: String?
    /// Whether the connection is encrypted even if the URL does not say so.
    package var isEncrypted = false
}
