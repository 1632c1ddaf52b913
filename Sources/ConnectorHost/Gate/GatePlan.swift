// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorLoading
internal import ConnectorServices

/// Everything a gate needs to open: its leaf of the file, checked against the plugin's manifest.
struct GatePlan: Sendable {
    /// The gate's path in the tree.
    var path: String
    /// The image to load, or why there is none.
    var plugin: Result<PluginCandidate, ConnectorError>
    /// The plugin's configuration and secrets.
    var configuration: InstanceConfiguration
    /// Reads the configuration again with current secrets; nil if the leaf has no secrets or they cannot be read.
    var renewed: @Sendable () -> InstanceConfiguration?
    /// The connectors that the plugin uses.
    var uses: [BoundUse] = []
    /// The timeout of one attempt to open, of one proof, and of closing.
    var timeout: Duration
    /// How many attempts opening makes before the gate fails.
    var retry: RetryPolicy
    /// How a failed gate is retried; nil for never.
    var heal: HealPolicy?
    /// How often an open gate is proved; nil for never.
    var probeInterval: Duration?
    /// Whether the plugin's requests propagate their trace.
    var propagatesTrace = false
    /// The most bytes of responses that are kept.
    var cacheBytes = 0
    /// Problems with the plugin that do not prevent the gate from opening.
    var warnings: [String] = []
    /// Whether something else takes the place of the vendor or of the plugin.
    var isSimulated = false

    /// The plan of a leaf that no configuration describes: it never opens.
    static func missing(_ connector: Connector) -> GatePlan {
        let error = ConnectorError(.failed, "the leaf has no resolved configuration", connector: connector.path)
        return GatePlan(
            path: connector.path,
            plugin: .failure(error),
            configuration: InstanceConfiguration(nil),
            renewed: { nil },
            timeout: Connector.defaultTimeout,
            retry: .none
        )
    }

    /// The plan without the function that reads its secrets again, which keeps the whole configuration in memory.
    var withoutRenewal: GatePlan {
        var plan = self
        plan.renewed = { nil }
        return plan
    }

    /// Whether an instance of another plan would be the same: everything that only the gate uses may differ.
    func opensLike(_ other: GatePlan) -> Bool {
        configuration == other.configuration && uses == other.uses && propagatesTrace == other.propagatesTrace
            && cacheBytes == other.cacheBytes && isSimulated == other.isSimulated && isOfSamePlugin(as: other)
    }

    /// Whether another plan loads the same file in the same state, or links the same plugin.
    func isOfSamePlugin(as other: GatePlan) -> Bool {
        switch (plugin, other.plugin) {
        case (.success(let one), .success(let two)):
            if case .linked(let one) = one.image { if case .linked(let two) = two.image { return one == two } }
            return one.path == two.path && one.identity == two.identity && one.manifest == two.manifest
        case (.failure(let one), .failure(let two)): return one.description == two.description
        default: return false
        }
    }

    /// A plugin's configuration, secrets and reachable hosts.
    struct InstanceConfiguration: Sendable, Equatable {
        /// The JSON object that the plugin's `create` receives.
        var json: [UInt8]
        /// The values of `{{secret:NAME}}`.
        var secrets: [String: Secret]
        /// The hosts that the plugin may reach over HTTP.
        var egress: [HostRule]

        /// Reads the configuration of a resolved leaf; empty for nil.
        init(_ plan: LeafPlan?) {
            json = JSONValue.object(plan?.config ?? JSONObject()).utf8()
            secrets = plan?.secrets ?? [:]
            egress = plan?.egress ?? []
        }
    }
}

extension RetryPolicy {
    /// A single attempt.
    static let none = RetryPolicy(attempts: 1)

    /// The longest wait after an attempt: the initial one, doubled each time, up to the maximum.
    func bound(afterAttempt attempt: Int) -> Duration {
        Backoff(initial: initial, maximum: max).bound(after: attempt)
    }
}
