// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOutbox

/// The NATS servers of an outbox as configured, with unresolved secrets.
package struct NATSReference: Sendable {
    /// The options other than secrets.
    var options: NATSSettings
    /// The source of the token.
    var token: SecretReference?
    /// The source of the password.
    var password: SecretReference?
    /// The variables that `env:NAME` reads.
    var environment: Configuration.Environment

    /// The options with the names of the secrets in place of their values, for comparison.
    var settings: NATSSettings {
        var options = options
        options.token = token.map { String(describing: $0) }
        options.password = password.map { String(describing: $0) }
        return options
    }
}
