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
    /// The warning about a secret that is missing in a simulation.
    private static func placeholder(for field: String) -> String {
        "the secret \"\(field)\" is missing; a placeholder takes its place, because the gate is simulated"
    }

    /// Combines the leaf in the file, the plugin's manifest and the catalog.
    init(_ connector: Connector, in resolved: ResolvedConfiguration, plugins: PluginLookup) {
        let missing = ConnectorError(.failed, "the leaf has no resolved configuration", connector: connector.path)
        let leaf = resolved.leaves[connector.path] ?? .failure(missing)
        let plan = try? leaf.get()
        let plugin = leaf.flatMap { plugins.candidate($0.specification) }
        self.init(
            path: connector.path,
            plugin: plugin,
            manifest: (try? plugin.get().manifest)
                ?? connector.specification.flatMap { try? plugins.manifest($0).get() },
            isLinked: connector.specification?.linked != nil,
            configuration: InstanceConfiguration(plan),
            renewed: { [renew = resolved.renew, path = connector.path] renewal in
                renew(path, renewal).map { InstanceConfiguration($0) }
            },
            hasAlternatives: plan?.hasAlternatives ?? false,
            readsFiles: plan?.readsFiles ?? false,
            uses: plan?.uses ?? [],
            timeout: connector.timeout ?? Connector.defaultTimeout,
            retry: connector.retry ?? .none,
            heal: connector.heal,
            probeInterval: connector.probeInterval.map { min($0, resolved.longestProbeInterval ?? $0) },
            propagatesTrace: connector.propagatesTrace,
            cacheBytes: connector.cacheBytes,
            warnings: ((try? plugin.get()).map(plugins.concerns) ?? [])
                + (plan?.placeholders ?? []).map(Self.placeholder(for:)),
            simulated: plan?.simulated
        )
    }
}
