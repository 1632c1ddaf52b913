// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorHost
internal import Ledger

/// What every application of the house shares: a file of connectors to include, and the plugins that are linked.
public enum WalletConnectors {
    /// The leaves whose plugins this package links.
    public static var leaves: [Connector] { [Connector("ledger", plugin: Ledger.self)] }

    /// Makes the host of an application.
    ///
    /// - Parameter file: The application's own file, which includes the shared one.
    public static func host(
        file: String,
        options: ConnectorHost.Options = ConnectorHost.Options()
    ) throws(ConfigurationErrors) -> ConnectorHost {
        let configuration = try Configuration.read(file: file, environment: options.environment)
            .appending(leaves, environment: options.environment)
        return try ConnectorHost(configuration, options: options)
    }
}
