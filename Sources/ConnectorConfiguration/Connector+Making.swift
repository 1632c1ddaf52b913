// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest
public import ConnectorOutbox
public import ConnectorServices

extension Connector {
    /// How a composite made in Swift treats its children: see <doc:CallingOperations>.
    public struct Policy: Sendable, Hashable {
        /// The policy's name in the file.
        package let name: String
        /// The quorum of `all`, if it has one.
        package var quorum: Int?

        /// Every child takes every call, and every required one must succeed.
        public static let all = Self(name: "all")
        /// Every child takes every call, and this many must succeed.
        public static func all(quorum: Int) -> Self { Self(name: "all", quorum: quorum) }
        /// The first working child, in order, takes the call.
        public static let first = Self(name: "first")
        /// Every child takes the call at once, and the first answer counts.
        public static let fastest = Self(name: "fastest")
        /// One child after the other, each with the answer of the one before it.
        public static let sequence = Self(name: "sequence")
        /// The first child answers, and the others' answers are compared with it.
        public static let compare = Self(name: "compare")
    }

    /// Creates a leaf. Nothing is checked until it becomes part of a ``Configuration``.
    ///
    /// The parameters are the keys of `connectors.json`: see <doc:OpeningGates>.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - plugin: A plugin's id, or a path with a slash; may contain `${NAME}`.
    ///   - version: The only version of the plugin to accept; nil for the highest.
    ///   - config: The plugin's own fields; values may contain `${NAME}` or be `["secret": "env:NAME"]`.
    ///   - isRequired: Whether the connector above fails without it; nil leaves it to the policy above.
    ///   - isEnabled: Whether the connector takes part at all.
    ///   - after: Connectors, by name or path, that finish opening, or fail to, before this one starts.
    ///   - timeout: The longest that one attempt to open may take; nil leaves it to the host.
    ///   - retry: How many attempts opening has before the gate fails; nil for one.
    ///   - heal: How a failed gate is tried again until it is closed; nil for never.
    ///   - probeInterval: How often an open gate is proved; nil for never.
    ///   - allowedHosts: The only hosts that the plugin may reach; nil leaves it to the plugin's manifest.
    ///   - delivery: How the outbox delivers its events; `.direct` for calls that reach the vendor directly.
    ///   - propagatesTrace: Whether the plugin's requests carry the trace that they belong to.
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
        allowedHosts: [HostRule]? = nil,
        delivery: DeliveryPolicy? = DeliveryPolicy(),
        propagatesTrace: Bool = false
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
            delivery: delivery,
            propagatesTrace: propagatesTrace,
            simulator: nil,
            kind: .leaf(Leaf(plugin: PluginSpecification(plugin, version: version), config: config)),
            location: JSONPath()
        )
    }

    /// Creates a composite. Nothing is checked until it becomes part of a ``Configuration``.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - policy: How a call passes through the connectors below.
    ///   - connectors: The children, at least one.
    ///   - isRequired: Whether the connector above fails without it; nil leaves it to the policy above.
    ///   - isEnabled: Whether the composite and everything below it takes part at all.
    ///   - after: Connectors, by name or path, that finish opening, or fail to, before this one starts.
    ///   - delivery: How the outbox delivers its events, unless its policy is `all`: then each child's own says it. `.direct`
    ///     for calls that reach the vendors directly.
    public init(
        _ name: String,
        policy: Policy = .all,
        connectors: [Connector],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = [],
        delivery: DeliveryPolicy? = DeliveryPolicy()
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
            delivery: delivery,
            simulator: nil,
            kind: .composite(policy: policy.quorum.map { .all(quorum: $0) } ?? kept, children: connectors),
            location: JSONPath()
        )
    }
}
