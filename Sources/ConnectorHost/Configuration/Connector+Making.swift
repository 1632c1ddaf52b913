// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest
public import ConnectorServices

extension Connector {
    /// How a composite made in Swift treats its children: see <doc:CallingOperations>.
    public struct Policy: Sendable, Hashable {
        /// What the file would say.
        package let name: String
        /// Of a policy that has one.
        package var quorum: Int?

        /// Every child takes every call, and one must succeed.
        public static let all = Self(name: "all")
        /// Every child takes every call, and so many must succeed.
        public static func all(quorum: Int) -> Self { Self(name: "all", quorum: quorum) }
        /// The first child that works takes the call, in order.
        public static let first = Self(name: "first")
        /// All at once, and the first answer counts.
        public static let fastest = Self(name: "fastest")
        /// One child after the other, each with what the one before it answered.
        public static let sequence = Self(name: "sequence")
        /// The first child answers, and the others' answers are compared with its own.
        public static let compare = Self(name: "compare")
    }

    /// Makes a leaf; nothing is checked before it becomes part of a ``Configuration``.
    ///
    /// The parameters are the keys of `connectors.json`: see <doc:OpeningGates>.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - plugin: The id of a plugin or, with a slash, the path of one; takes `${NAME}`.
    ///   - version: The only version of the plugin that will do; nil for the highest.
    ///   - config: What the plugin wants to know; values take `${NAME}` and `["secret": "env:NAME"]`.
    ///   - isRequired: Whether what is above it fails without it; nil leaves it to the policy above.
    ///   - isEnabled: Whether it takes part at all.
    ///   - after: Connectors, by name or path, that have opened, or failed to, before this one starts.
    ///   - timeout: How long opening may take; nil leaves it to the host.
    ///   - retry: Whether and how opening is tried again; nil for a single attempt.
    ///   - heal: How a gate that failed to open is tried again until its host closes; nil for never.
    ///   - probeInterval: How often an open gate proves that it still works; nil for never.
    ///   - allowedHosts: The only hosts that the plugin may talk to; nil leaves it to the plugin's manifest.
    public init(
        _ name: String,
        plugin: String,
        version: SemanticVersion? = nil,
        config: JSONObject = [:],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = [],
        timeout: Duration? = nil,
        retry: RetryPolicy? = nil,
        heal: HealPolicy? = HealPolicy(),
        probeInterval: Duration? = Connector.defaultProbeInterval,
        allowedHosts: [HostRule]? = nil
    ) {
        self.init(
            name: name,
            path: name,
            isRequired: isRequired,
            isEnabled: isEnabled,
            after: after,
            timeout: timeout,
            retry: retry,
            heal: heal,
            probeInterval: probeInterval,
            allowedHosts: allowedHosts,
            kind: .leaf(Leaf(plugin: PluginSpecification(plugin, version: version), config: config)),
            location: JSONPath()
        )
    }

    /// Makes a composite; nothing is checked before it becomes part of a ``Configuration``.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - policy: How a call passes through the connectors below.
    ///   - connectors: The connectors below, at least one.
    ///   - isRequired: Whether what is above it fails without it; nil leaves it to the policy above.
    ///   - isEnabled: Whether it, with everything below, takes part at all.
    ///   - after: Connectors, by name or path, that have opened, or failed to, before this one starts.
    public init(
        _ name: String,
        policy: Policy = .all,
        connectors: [Connector],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = []
    ) {
        let kept = CompositePolicy(name: policy.name) ?? .all(quorum: nil)
        self.init(
            name: name,
            path: name,
            isRequired: isRequired,
            isEnabled: isEnabled,
            after: after,
            timeout: nil,
            retry: nil,
            heal: HealPolicy(),
            probeInterval: Self.defaultProbeInterval,
            allowedHosts: nil,
            kind: .composite(policy: policy.quorum.map { .all(quorum: $0) } ?? kept, children: connectors),
            location: JSONPath()
        )
    }
}
