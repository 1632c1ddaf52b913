// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorKit
import ConnectorManifest

/// A complete plugin in Swift. The build generates the functions that the host calls from greeter.connector.json.
struct Greeter: Plugin {
    private let greeting: String

    init(configuration: PluginConfiguration, host: Host) throws {
        greeting = try configuration.string("greeting")
    }

    /// Has no server to reach, so it can only claim to be configured.
    func open() async throws -> [Evidence] {
        [.configured("says \(greeting)")]
    }

    /// Implements the operation of the same name; the labels are its parameters.
    func greet(name: String) async throws -> JSONValue {
        guard !name.isEmpty else { throw PluginError(.invalid, "a greeting needs a name") }
        return .string("\(greeting), \(name)!")
    }
}
