// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorServices

/// Everything a gate needs to know to open: its leaf of the file, checked against the plugin's manifest.
struct GatePlan: Sendable {
    /// The place in the tree.
    var path: String
    /// The image to load; or why there is none that could be.
    var plugin: Result<PluginCandidate, ConnectorError>
    /// What the plugin is configured with.
    var material: Material
    /// Reads the material again, for secrets may have been exchanged; nil if the leaf has none, or they cannot be read.
    var renewed: @Sendable () -> Material?
    /// How long one attempt to open, one proof and closing may take.
    var timeout: Duration
    /// Whether and how opening is tried again before it counts as failed.
    var retry: RetryPolicy
    /// How a gate that has failed is tried again; nil for not at all.
    var heal: HealPolicy?
    /// How often an open gate proves that it still works; nil for never.
    var probeInterval: Duration?

    /// What a plugin is configured with.
    struct Material: Sendable, Equatable {
        /// What the plugin's `create` receives: a JSON object.
        var configuration: [UInt8]
        /// The values of `{{secret:NAME}}`.
        var secrets: [String: Secret]
        /// The hosts that HTTP may reach.
        var egress: [HostRule]

        /// Of what the file says of a leaf.
        init(_ plan: LeafPlan?) {
            configuration = JSONValue.object(plan?.config ?? JSONObject()).utf8()
            secrets = plan?.secrets ?? [:]
            egress = plan?.egress ?? []
        }
    }

    /// How long an attempt may take if the connector says nothing.
    static let defaultTimeout: Duration = .seconds(10)
}

extension RetryPolicy {
    /// A single attempt.
    static let none = RetryPolicy(attempts: 1)

    /// The longest wait after an attempt: the initial one, doubled every time, up to the maximum.
    func bound(afterAttempt attempt: Int) -> Duration {
        let doublings = Swift.min(Swift.max(1, attempt) - 1, 30)
        return Swift.min(initial * (1 << doublings), max)
    }
}
