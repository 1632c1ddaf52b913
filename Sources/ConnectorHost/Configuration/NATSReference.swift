// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
package import ConnectorOutbox
internal import ConnectorServices

/// The NATS servers of an outbox as a configuration names them, with a token that is not read yet.
package struct NATSReference: Sendable {
    /// What is known without the token.
    var settings: NATSSettings
    /// Where the token is.
    var token: SecretReference?
    /// Where relative paths start.
    var base: BaseDirectory
    /// The variables that `env:NAME` reads.
    var environment: Configuration.Environment

    /// Everything, the token included, which is read anew each time.
    package func resolved() throws(ConnectorError) -> NATSSettings {
        var settings = settings
        settings.token = try token?.secret(base: base, environment: environment).reveal()
        return settings
    }
}
