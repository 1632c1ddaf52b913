// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading

extension Connector {
    /// The plugin that a leaf names; nil for a composite.
    fileprivate var specification: PluginSpecification? {
        if case .leaf(let leaf) = kind { leaf.plugin } else { nil }
    }
}

extension GatePlan {
    /// The warning about a secret that is missing in a simulation, or unusable, which is not told apart: a simulation needs none.
    private static func placeholder(for field: String) -> String {
        "the secret \"\(field)\" is missing or cannot be used; a placeholder takes its place, because the gate is simulated"
    }

    /// Combines the leaf in the file, the plugin's manifest and the catalog.
    ///
    /// - Parameters:
    ///   - written: The paths that the sandboxes of the configuration's connectors let plugins write.
    ///   - found: The plugins found so far. This one is added, because each search is slow.
    init(
        _ connector: Connector,
        in resolved: ResolvedConfiguration,
        plugins: PluginLookup,
        written: Set<String>,
        found: inout NamedValues<PluginSpecification, Result<PluginCandidate, ConnectorError>>
    ) {
        guard let leaf = resolved.leaves[connector.path] else {
            self = .missing(connector)
            return
        }
        let plan = try? leaf.get()
        let plugin = leaf.flatMap { leaf in
            if let known = found[leaf.specification.name, leaf.specification] { return known }
            let candidate = plugins.candidate(leaf.specification)
            found[leaf.specification.name, leaf.specification] = candidate
            return candidate
        }
        var isolation = connector.isolation
        isolation.sandbox = isolation.sandbox.beside(writersOf: written)
        var warnings = (try? plugin.get()).map(plugins.concerns) ?? []
        if let plan { warnings += plan.warnings + plan.placeholders.map(Self.placeholder(for:)) }
        self.init(
            Members(
                path: connector.path,
                plugin: plugin,
                manifest: (try? plugin.get().manifest)
                    ?? connector.specification.flatMap { try? plugins.manifest($0).get() },
                admission: plugins.admission,
                isLinked: connector.specification?.linked != nil,
                leaf: leaf,
                connector: connector,
                configuration: InstanceConfiguration(plan),
                hasAlternatives: plan?.hasAlternatives ?? false,
                fault: plan?.fault,
                readsFiles: plan?.readsFiles ?? false,
                uses: plan?.uses ?? [],
                timeout: connector.timeout ?? Connector.defaultTimeout,
                trial: connector.trial,
                retry: connector.retry ?? .none,
                heal: connector.heal,
                breaker: connector.breaker,
                probeInterval: connector.probeInterval.map { min($0, resolved.longestProbeInterval ?? $0) },
                propagatesTrace: connector.propagatesTrace,
                cacheBytes: connector.cacheBytes,
                recording: resolved.recording(of: connector).flatMap { target in
                    target.isSession || plan?.simulated == nil ? target : nil
                },
                vendor: plan?.vendor,
                isolation: isolation,
                warnings: warnings,
                simulated: plan?.simulated
            )
        ) { [renew = resolved.renew, path = connector.path] renewal in
            renew(path, renewal).compactMap { InstanceConfiguration($0) }
        }
    }
}

extension NextConfiguration {
    /// Finds the plugins of a configuration. Blocks while files are read.
    init(_ resolved: ResolvedConfiguration, plugins: PluginLookup, _ substitute: PluginSubstitute? = nil) {
        var found = NamedValues<PluginSpecification, Result<PluginCandidate, ConnectorError>>()
        var plans: [String: GatePlan] = [:]
        let leaves = resolved.configuration.enabledLeaves
        let written = Set(leaves.flatMap { $0.connector.isolation.sandbox.write })
        for (connector, _) in leaves {
            plans[connector.path] = GatePlan(connector, in: resolved, plugins: plugins, written: written, found: &found)
        }
        self.init(
            resolved: resolved,
            digest: RunningConfiguration.digest(resolved.configuration),
            plans: plans,
            substitute: substitute
        )
    }
}
