// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorKit
import ConnectorManifest

/// A whole plugin in Swift; the functions that the host calls are generated from greeter.connector.json.
struct Greeter: Plugin {
    private let greeting: String

    init(configuration: PluginConfiguration, host: Host) throws {
        greeting = try configuration.string("greeting")
    }

    /// Talks to nobody, so all it can claim is that it is configured.
    func open() async throws -> [Evidence] {
        [.configured("says \(greeting)")]
    }

    /// The operation of this name; its parameters are the labels.
    func greet(name: String) async throws -> JSONValue {
        guard !name.isEmpty else { throw PluginError(.invalid, "a greeting needs a name") }
        return .string("\(greeting), \(name)!")
    }
}
