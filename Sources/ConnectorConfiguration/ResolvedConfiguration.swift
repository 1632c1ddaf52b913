// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorServices

/// A configuration whose values are resolved and validated against the plugins, ready to open.
public struct ResolvedConfiguration: Sendable {
    /// The configuration as read.
    public let configuration: Configuration
    /// The plan to open each enabled leaf, by path, or why its plugin cannot be used.
    package var leaves: [String: Result<LeafPlan, ConnectorError>]
    /// Redacts every secret of the configuration from texts.
    package let redactor: Redactor
    /// The variables that the values were resolved with.
    let environment: Configuration.Environment
    /// Resolves a leaf again with its current secrets; nil on failure.
    package internal(set) var renew: @Sendable (_ path: String) -> LeafPlan?
    /// The maximum probe interval, overriding longer ones in the file; nil for no maximum.
    package internal(set) var longestProbeInterval: Duration?
}

/// Everything required to open one leaf.
package struct LeafPlan: Sendable {
    /// The plugin that the leaf names.
    package internal(set) var specification: PluginSpecification
    /// The manifest of that plugin.
    package let manifest: Manifest
    /// Every field with a value, including defaults, in the manifest's order; the value of a secret field is `{{secret:FIELD}}`.
    package internal(set) var config: JSONObject
    /// The values of the secret fields.
    package internal(set) var secrets: [String: Secret]
    /// The hosts that the plugin may reach.
    package internal(set) var egress: [HostRule]
    /// The connectors that the plugin uses, in the manifest's order.
    package internal(set) var uses: [BoundUse] = []
    /// What replaces the vendor in a simulation, as configured.
    package let simulator: SimulatorReference?
    /// The secret fields with a placeholder, because their secrets are missing and the vendor is simulated.
    package internal(set) var placeholders: [String] = []
    /// Whether something else takes the place of the vendor or of the plugin.
    package internal(set) var isSimulated = false
    /// The fields whose URLs point to a simulator instead of the server named in the file.
    var movedFields: Set<String> = []

    /// Replaces the secrets by those that were read last.
    package mutating func use(_ secrets: [String: Secret]) {
        self.secrets = secrets
    }

    /// The placeholder for a secret that is missing in a simulation.
    static let missingSecret = "simulated-secret"

    /// The placeholder for a secret field's value in a plugin's configuration and requests.
    package static func placeholder(for field: String) -> String { "{{secret:\(field)}}" }
}

extension Configuration {
    /// Reads a file and validates it against the plugins, in one pass.
    ///
    /// - Parameters:
    ///   - file: The path of the file.
    ///   - environment: The variables that `${NAME}` and `env:NAME` read.
    ///   - manifests: Finds a plugin's manifest, for the configuration as read. An `unknown-plugin` error is an error in the file;
    ///     any other error only fails the gate.
    ///   - isSimulated: Whether the vendors will be simulated: secrets that are missing are then no errors.
    /// - Throws: Every error in the file.
    package static func load(
        file: String,
        environment: Environment = .process,
        isSimulated: Bool = false,
        manifests: (Configuration) -> (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (configuration, problems, omitted) = examine(file: file, environment: environment)
        guard let configuration else { throw ConfigurationErrors(problems, omitted: omitted) }
        let (resolved, more, omittedMore) = configuration.examine(
            environment: environment,
            isSimulated: isSimulated,
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

    /// Resolves variables and secrets, and validates every enabled leaf against its plugin.
    ///
    /// - Parameter isSimulated: Whether the vendors will be simulated: secrets that are missing are then no errors.
    /// - Throws: Every error in the configuration.
    package func resolved(
        environment: Environment = .process,
        isSimulated: Bool = false,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (resolved, problems, omitted) = examine(
            environment: environment,
            isSimulated: isSimulated,
            manifest: manifest
        )
        guard problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted, files: texts) }
        return resolved
    }

    private func examine(
        environment: Environment,
        isSimulated: Bool,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) -> (resolved: ResolvedConfiguration, problems: [ConnectorError], omitted: Int) {
        var resolver = ConfigurationResolver(self, environment: environment, isSimulated: isSimulated)
        var leaves: [String: Result<LeafPlan, ConnectorError>] = [:]
        var manifests: [PluginSpecification: Result<Manifest, ConnectorError>] = [:]
        for (connector, leaf) in enabledLeaves {
            // Search for no more plugins once the error limit is reached: each search takes some 0.1 ms.
            guard manifests[leaf.plugin] != nil || resolver.json.hasRoom() else { continue }
            let found = manifests[leaf.plugin] ?? manifest(leaf.plugin)
            manifests[leaf.plugin] = found
            leaves[connector.path] = resolver.plan(for: connector, leaf, manifest: found)
        }
        if leaves.values.contains(where: { (try? $0.get())?.manifest.uses.isEmpty == false })
            || enabledLeaves.contains(where: { !$0.connector.with.isEmpty })
        {
            var binder = UseBinder(self, leaves)
            binder.bind(&leaves)
        }
        let resolved = ResolvedConfiguration(
            configuration: self,
            leaves: leaves,
            redactor: Redactor(resolver.secrets),
            environment: environment,
            renew: { [leaves] path in
                guard let manifest = try? leaves[path]?.get().manifest else { return nil }
                return renewed(path, manifest, environment, isSimulated: isSimulated)
            }
        )
        return (resolved, resolver.json.problems, resolver.json.omitted)
    }

    /// Resolves a leaf again; nil on failure.
    private func renewed(
        _ path: String,
        _ manifest: Manifest,
        _ environment: Environment,
        isSimulated: Bool
    ) -> LeafPlan? {
        guard let (connector, leaf) = enabledLeaves.first(where: { $0.connector.path == path }) else { return nil }
        var resolver = ConfigurationResolver(self, environment: environment, isSimulated: isSimulated)
        return try? resolver.plan(for: connector, leaf, manifest: .success(manifest))?.get()
    }
}
