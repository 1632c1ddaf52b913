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
    /// The connectors whose settings leaves have in place of those in the configuration, by path: see
    /// ``keep(_:as:_:)``.
    var kept: [String: Connector] = [:]
    /// Redacts every secret of the configuration from texts.
    package let redactor: Redactor
    /// The variables that the values were resolved with.
    let environment: Configuration.Environment
    /// What `connector-host record` asks for; nil if it does not run.
    let request: RecordingRequest?
    /// Resolves a leaf again with its current secrets.
    package internal(set) var renew: @Sendable (_ path: String, Renewal) -> RenewedSecrets<LeafPlan>
    /// The maximum probe interval, overriding longer ones in the file; nil for no maximum.
    package internal(set) var longestProbeInterval: Duration?
}

/// How thoroughly secrets are read again.
package enum Renewal: Sendable {
    /// Files and variables are read; for commands, the last output is used, and one without output has no secret.
    case files
    /// Commands run, too.
    case all
}

/// Everything required to open one leaf.
package struct LeafPlan: Sendable {
    /// The plugin that the leaf names.
    package var specification: PluginSpecification { members.value.specification }
    /// The manifest of that plugin.
    package var manifest: Manifest { members.value.manifest }
    /// Every field with a value, including defaults, in the manifest's order; the value of a secret field is `{{secret:FIELD}}`.
    package var config: JSONObject { members.value.config }
    /// The values of the secret fields.
    package var secrets: [String: Secret] { members.value.secrets }
    /// Where the values of the secret fields come from, except those that are in the file itself.
    package var origins: [String: SecretOrigin] { members.value.origins }
    /// Whether a secret has several sources, of which the next is tried if the vendor refuses one.
    package var hasAlternatives: Bool { members.value.hasAlternatives }
    /// Whether secrets come from files, which may be replaced at any time.
    package var readsFiles: Bool { members.value.readsFiles }
    /// The hosts that the plugin may reach.
    package var egress: [HostRule] { members.value.egress }
    /// The connectors that the plugin uses, in the manifest's order.
    package var uses: [BoundUse] { members.value.uses }
    /// What replaces the vendor in a simulation, as configured.
    package var simulator: SimulatorReference? { members.value.simulator }
    /// The secret fields with a placeholder, because their secrets are missing and the vendor is simulated.
    package var placeholders: [String] { members.value.placeholders }
    /// What is probably a mistake in the fields, although they are valid.
    package var warnings: [String] { members.value.warnings }
    /// Why a source that is there was passed over, in favour of a later one in the list; nil if none was.
    package var fault: SecretFault? { members.value.fault }
    /// The part of the gate that is simulated; nil if none is.
    package var simulated: Simulated? { members.value.simulated }
    /// What answers in place of the vendor; nil if nothing does.
    package var vendor: SimulatedVendor? { members.value.vendor }
    /// The fields whose URLs point to a simulator instead of the server named in the file.
    var movedFields: Set<String> { members.value.movedFields }

    /// The members of a plan, which its copies share.
    struct Members: Sendable {
        var specification: PluginSpecification
        var manifest: Manifest
        var config: JSONObject
        var secrets: [String: Secret]
        var origins: [String: SecretOrigin]
        var hasAlternatives = false
        var readsFiles = false
        var egress: [HostRule]
        var uses: [BoundUse] = []
        var simulator: SimulatorReference?
        var placeholders: [String] = []
        var warnings: [String] = []
        var fault: SecretFault?
        var simulated: Simulated?
        var vendor: SimulatedVendor?
        var movedFields: Set<String> = []
        /// The connector that the plan was made from, if that and the manifest are all that it was made from.
        var source: Connector?
    }

    var members: Shared<Members>

    /// Creates a plan.
    init(_ members: Members) { self.members = Shared(members) }

    /// A part of a gate that can be simulated.
    package enum Simulated: Sendable {
        case vendor
        case plugin
    }

    /// Replaces the secrets with those that were read last.
    package mutating func use(_ secrets: [String: Secret]) { members.value.secrets = secrets }

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
    /// - Parameters:
    ///   - simulation: What will be simulated; nil for nothing.
    ///   - earlier: A configuration that was resolved before, without a simulation; the plans of leaves that are still
    ///     the same are reused.
    /// - Throws: Every error in the configuration.
    package func resolved(
        environment: Environment = .process,
        simulation: SimulationRequest? = nil,
        after earlier: ResolvedConfiguration? = nil,
        manifest: (PluginSpecification) -> Result<Manifest, ConnectorError>
    ) throws(ConfigurationErrors) -> ResolvedConfiguration {
        let (resolved, problems, omitted) = examine(
            environment: environment,
            simulation: simulation,
            after: earlier,
            manifest: manifest
        )
        guard problems.isEmpty else { throw ConfigurationErrors(problems, omitted: omitted, files: texts) }
        return resolved
    }

    private func examine(
        environment: Environment,
        simulation: SimulationRequest?,
        after earlier: ResolvedConfiguration? = nil,
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
            if let plan = earlier?.plan(of: connector, leaf, found, in: self) {
                leaves[connector.path] = .success(plan)
            } else {
                leaves[connector.path] = resolver.plan(for: connector, leaf, manifest: found)
            }
        }
        resolver.checkSequences(in: self, leaves)
        if leaves.values.contains(where: { (try? $0.get())?.manifest.uses.isEmpty == false })
            || enabledLeaves.contains(where: \.connector.hasBindings)
        {
            var binder = UseBinder(self, leaves)
            binder.bind(&leaves)
        }
        let request = RecordingRequest(environment)
        let resolved = ResolvedConfiguration(
            configuration: self,
            leaves: leaves,
            redactor: Redactor(resolver.secrets),
            environment: environment,
            request: request,
            renew: { [leaves, finder = LeafFinder(self)] path, renewal in
                guard let manifest = try? leaves[path]?.get().manifest, let (connector, leaf) = finder.leaf(path) else {
                    return RenewedSecrets()
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
        let fault = request?.fault(among: leaves.keys.sorted())
        return (resolved, resolver.json.problems + (fault.map { [$0] } ?? []), resolver.json.omitted)
    }
}

extension ResolvedConfiguration {
    /// The plan of a leaf, if all that it was made from is the same in another configuration; nil if it must be made again.
    fileprivate func plan(
        of connector: Connector,
        _ leaf: Connector.Leaf,
        _ manifest: Result<Manifest, ConnectorError>,
        in other: Configuration
    ) -> LeafPlan? {
        guard case .success(let plan)? = leaves[connector.path], let source = plan.members.value.source,
            case .leaf(let earlier) = source.kind, earlier.plugin == leaf.plugin, earlier.config == leaf.config,
            source.allowedHosts == connector.allowedHosts, source.simulator == connector.simulator,
            source.isolation.standby == connector.isolation.standby, !connector.hasBindings,
            configuration.base(ofText: source.location.text).path == other.base(ofText: connector.location.text).path,
            case .success(let manifest) = manifest, plan.members.value.manifest == manifest
        else { return nil }
        return plan
    }
}
