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
    /// Resolves a leaf again with its current secrets: each alternative that can be read, the preferred one first.
    package internal(set) var renew: @Sendable (_ path: String, Renewal) -> [LeafPlan]
    /// The maximum probe interval, overriding longer ones in the file; nil for no maximum.
    package internal(set) var longestProbeInterval: Duration?
}

/// How thoroughly secrets are read again.
package enum Renewal: Sendable {
    /// Files and variables are read; of commands, the last output is used.
    case files
    /// Commands run, too.
    case all
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
    /// Where the values of the secret fields come from; without those that stand in the file itself.
    package internal(set) var origins: [String: SecretOrigin]
    /// Whether a secret has several sources, of which the next is tried if the vendor refuses one.
    package internal(set) var hasAlternatives = false
    /// Whether secrets come from files, which may be replaced at any time.
    package internal(set) var readsFiles = false
    /// The hosts that the plugin may reach.
    package internal(set) var egress: [HostRule]
    /// The connectors that the plugin uses, in the manifest's order.
    package internal(set) var uses: [BoundUse] = []
    /// What replaces the vendor in a simulation, as configured.
    package let simulator: SimulatorReference?
    /// The secret fields with a placeholder, because their secrets are missing and the vendor is simulated.
    package internal(set) var placeholders: [String] = []
    /// What something else takes the place of; nil if nothing is simulated.
    package internal(set) var simulated: Simulated?
    /// What takes the place of the vendor; nil for nothing.
    package internal(set) var vendor: SimulatedVendor?
    /// The fields whose URLs point to a simulator instead of the server named in the file.
    var movedFields: Set<String> = []

    /// A part of a gate that can be simulated.
    package enum Simulated: Sendable {
        case vendor
        case plugin
    }

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
    ///   - simulation: What will be simulated; nil for nothing.
    /// - Throws: Every error in the file.
    package static func load(
        file: String,
        environment: Environment = .process,
        simulation: SimulationRequest? = nil,
        manifests: (Configuration) -> (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (configuration, problems, omitted) = examine(file: file, environment: environment)
        guard let configuration else { throw ConfigurationErrors(problems, omitted: omitted) }
        let (resolved, more, omittedMore) = configuration.examine(
            environment: environment,
            simulation: simulation,
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
    /// - Parameter simulation: What will be simulated; nil for nothing.
    /// - Throws: Every error in the configuration.
    package func resolved(
        environment: Environment = .process,
        simulation: SimulationRequest? = nil,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (resolved, problems, omitted) = examine(
            environment: environment,
            simulation: simulation,
            manifest: manifest
        )
        guard problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted, files: texts) }
        return resolved
    }

    private func examine(
        environment: Environment,
        simulation: SimulationRequest?,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) -> (resolved: ResolvedConfiguration, problems: [ConnectorError], omitted: Int) {
        let history = SecretHistory()
        var resolver = ConfigurationResolver(
            self,
            environment: environment,
            simulation: simulation,
            history: history
        )
        let enabledLeaves = enabledLeaves
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
            renew: { [leaves, finder = LeafFinder(self)] path, renewal in
                guard let manifest = try? leaves[path]?.get().manifest, let (connector, leaf) = finder.leaf(path) else {
                    return []
                }
                var resolver = ConfigurationResolver(
                    self,
                    environment: environment,
                    simulation: simulation,
                    history: history,
                    runsCommands: renewal == .all
                )
                return resolver.plans(for: connector, leaf, manifest: manifest)
            }
        )
        let fault = RecordingRequest(environment)?.fault(among: leaves.keys.sorted())
        return (resolved, resolver.json.problems + (fault.map { [$0] } ?? []), resolver.json.omitted)
    }
}
