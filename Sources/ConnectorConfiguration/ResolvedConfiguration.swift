// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorServices

/// A configuration whose every value is known and checked against the plugins, ready to be opened.
public struct ResolvedConfiguration: Sendable {
    /// The configuration as read.
    public let configuration: Configuration
    /// What to open for each enabled leaf, by path, or why its plugin cannot be used.
    package internal(set) var leaves: [String: Result<LeafPlan, ConnectorError>]
    /// Takes every secret of the configuration out of texts.
    package let redactor: Redactor
    /// The variables that the values were read from.
    let environment: Configuration.Environment
    /// Resolves a leaf again with its current secrets; nil if that fails.
    package internal(set) var renew: @Sendable (_ path: String) -> LeafPlan?
    /// The longest time between two proofs of an open gate, whatever the file says; nil for what it says.
    package internal(set) var longestProbeInterval: Duration?
}

/// Everything needed to open one leaf.
package struct LeafPlan: Sendable {
    /// The plugin that the leaf names.
    package let specification: PluginSpecification
    /// The manifest of that plugin.
    package let manifest: Manifest
    /// Every field with a value, defaults included, in the manifest's order; secret ones hold `{{secret:FIELD}}`.
    package internal(set) var config: JSONObject
    /// The values of the secret fields.
    package internal(set) var secrets: [String: Secret]
    /// The hosts that the plugin may reach.
    package internal(set) var egress: [HostRule]
    /// What takes the vendor's place in a simulation, as the file says.
    package let simulator: SimulatorReference?
    /// The fields whose URLs lead to a simulator instead of the server that the file names.
    var movedFields: Set<String> = []

    /// The text that stands for a secret field's value in a plugin's configuration and requests.
    package static func placeholder(for field: String) -> String { "{{secret:\(field)}}" }
}

extension Configuration {
    /// Reads a file and checks it against the plugins, all in one pass.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - environment: The variables that `${NAME}` and `env:NAME` read.
    ///   - manifests: Finds the manifest of a plugin for the configuration as read. An `unknown-plugin` error is a
    ///     fault of the file; any other error stays with the gate, which fails with it.
    /// - Throws: Every fault of the file.
    package static func load(
        file: String,
        environment: Environment = .process,
        manifests: (Configuration) -> (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (configuration, problems, omitted) = examine(file: file, environment: environment)
        guard let configuration else { throw ConfigurationErrors(problems, omitted: omitted) }
        let (resolved, more, omittedMore) = configuration.examine(
            environment: environment,
            manifest: manifests(configuration)
        )
        guard problems.isEmpty, more.isEmpty else {
            throw ConfigurationErrors(
                problems + more,
                omitted: omitted + omittedMore,
                files: configuration.texts
            )
        }
        return resolved
    }

    /// Fills in variables and secrets, and checks every enabled leaf against its plugin.
    ///
    /// - Throws: Every fault of the configuration.
    package func resolved(
        environment: Environment = .process,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (resolved, problems, omitted) = examine(environment: environment, manifest: manifest)
        guard problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted, files: texts) }
        return resolved
    }

    private func examine(
        environment: Environment,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) -> (resolved: ResolvedConfiguration, problems: [ConnectorError], omitted: Int) {
        var resolver = ConfigurationResolver(self, environment: environment)
        var leaves: [String: Result<LeafPlan, ConnectorError>] = [:]
        var manifests: [PluginSpecification: Result<Manifest, ConnectorError>] = [:]
        for (connector, leaf) in enabledLeaves {
            // Beyond the limit of faults, no further plugin is searched for: each search takes some 0.1 ms.
            guard manifests[leaf.plugin] != nil || resolver.json.hasRoom() else { continue }
            let found = manifests[leaf.plugin] ?? manifest(leaf.plugin)
            manifests[leaf.plugin] = found
            leaves[connector.path] = resolver.plan(for: connector, leaf, manifest: found)
        }
        let resolved = ResolvedConfiguration(
            configuration: self,
            leaves: leaves,
            redactor: Redactor(resolver.secrets),
            environment: environment,
            renew: { [leaves] path in
                guard let manifest = try? leaves[path]?.get().manifest else { return nil }
                return renewed(path, manifest, environment)
            }
        )
        return (resolved, resolver.json.problems, resolver.json.omitted)
    }

    /// Resolves a leaf again; nil if that fails.
    private func renewed(_ path: String, _ manifest: Manifest, _ environment: Environment) -> LeafPlan? {
        guard let (connector, leaf) = enabledLeaves.first(where: { $0.connector.path == path }) else { return nil }
        var resolver = ConfigurationResolver(self, environment: environment)
        return try? resolver.plan(for: connector, leaf, manifest: .success(manifest))?.get()
    }
}
