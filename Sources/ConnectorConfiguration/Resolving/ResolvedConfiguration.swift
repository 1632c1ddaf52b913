// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
package import ConnectorServices

/// A configuration whose values are resolved and validated against the plugins, ready to open.
public struct ResolvedConfiguration: Sendable {
    /// The configuration as read.
    public let configuration: Configuration
    /// Each enabled leaf as resolved, by path, or why its plugin cannot be used.
    package var leaves: [String: Result<ResolvedLeaf, ConnectorError>]
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
    package internal(set) var renew: @Sendable (_ path: String, Renewal) -> RenewedSecrets<ResolvedLeaf>
    /// The maximum probe interval, overriding longer ones in the file; nil for no maximum.
    package internal(set) var longestProbeInterval: Duration?
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
    ///   - earlier: A configuration that was resolved before, without a simulation; what it has of leaves that are
    ///     still the same is reused.
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
        var leaves: [String: Result<ResolvedLeaf, ConnectorError>] = [:]
        var manifests = NamedValues<PluginSpecification, Result<Manifest, ConnectorError>>()
        for (connector, leaf) in enabledLeaves {
            let known = manifests[leaf.plugin.name, leaf.plugin]
            // Search for no more plugins once the error limit is reached: each search takes some 0.1 ms.
            guard known != nil || resolver.json.hasRoom() else { continue }
            let found = known ?? manifest(leaf.plugin)
            if known == nil { manifests[leaf.plugin.name, leaf.plugin] = found }
            if let known = earlier?.resolvedLeaf(of: connector, leaf, found, in: self) {
                leaves[connector.path] = .success(known)
            } else {
                leaves[connector.path] = resolver.resolvedLeaf(for: connector, leaf, manifest: found)
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
                return resolver.resolvedLeaves(for: connector, leaf, manifest: manifest)
            }
        )
        let fault = request?.fault(among: leaves.keys.sorted())
        return (resolved, resolver.json.problems + (fault.map { [$0] } ?? []), resolver.json.omitted)
    }
}

extension ResolvedConfiguration {
    /// A leaf as resolved, if all that it was made from is the same in another configuration; nil if it must be resolved again.
    fileprivate func resolvedLeaf(
        of connector: Connector,
        _ leaf: Connector.Leaf,
        _ manifest: Result<Manifest, ConnectorError>,
        in other: Configuration
    ) -> ResolvedLeaf? {
        guard case .success(let resolved)? = leaves[connector.path], let source = resolved.members.value.source,
            case .leaf(let earlier) = source.kind, earlier.plugin == leaf.plugin, earlier.config == leaf.config,
            source.allowedHosts == connector.allowedHosts, source.simulator == connector.simulator,
            source.isolation.standby == connector.isolation.standby, !connector.hasBindings,
            configuration.base(ofText: source.location.text).path == other.base(ofText: connector.location.text).path,
            case .success(let manifest) = manifest, resolved.members.value.manifest == manifest
        else { return nil }
        return resolved
    }
}
