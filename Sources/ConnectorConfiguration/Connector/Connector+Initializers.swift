// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest
public import ConnectorOutbox
public import ConnectorServices

extension Connector {
    /// How a composite created in Swift routes calls to its children: see the article `CallingOperations` of `ConnectorHost`.
    public struct Policy: Sendable, Hashable {
        /// The policy as a composite has it.
        package let policy: CompositePolicy

        /// Every child receives every call, and every required child must succeed.
        public static let all = Self(policy: .all(quorum: nil))
        /// Every child receives every call, and at least this many must succeed.
        public static func all(quorum: Int) -> Self { Self(policy: .all(quorum: quorum)) }
        /// The first working child, in order, receives the call.
        public static let first = Self(policy: .first)
        /// Every child receives the call concurrently, and the first answer wins.
        public static let fastest = Self(policy: .fastest)
        /// The children receive the call one after another, each with the previous child's answer.
        public static let sequence = Self(policy: .sequence)
        /// The first child answers, and the answers of the others are compared with it.
        public static let compare = Self(policy: .compare)
        /// The first of two children receives the calls, except for a share that the second one receives until it does worse.
        public static func canary(_ canary: CanaryPolicy = CanaryPolicy()) -> Self { Self(policy: .canary(canary)) }
        /// The first child receives the calls, and the others copies of those that have no effect; answers are compared.
        public static let shadow = Self(policy: .shadow)
    }

    /// Creates a leaf. It is validated as part of a ``Configuration``.
    ///
    /// The parameters correspond to the keys of `connectors.json`: see the article `OpeningGates` of `ConnectorHost`.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - plugin: A plugin's id, or a path with a slash; may contain `${NAME}`.
    ///   - version: The required version of the plugin; nil for the highest.
    ///   - config: The plugin's own fields; values may contain `${NAME}` or be `["secret": "env:NAME"]`.
    ///   - isRequired: Whether the parent fails without this connector; nil for the default of the parent's policy.
    ///   - isEnabled: Whether the connector is part of the tree at all.
    ///   - after: Connectors, by name or path, that must finish opening or fail before this one starts to open.
    ///   - with: The connectors that the plugin uses: names or paths by the names in its manifest's `uses`; the host binds others.
    ///   - timeout: The timeout of one attempt to open; nil for the host's default.
    ///   - trial: How long a reload keeps the earlier instance, to go back to it if its successor disappoints; nil for no trial.
    ///   - retry: How often to try to open before the gate fails; nil for once.
    ///   - heal: How a failed gate is retried until it is closed; nil for never.
    ///   - breaker: When calls are kept from a gate whose calls fail; nil for never.
    ///   - probeInterval: How often an open gate is probed; nil for never.
    ///   - allowedHosts: The only hosts that the plugin may reach; nil for those in its manifest.
    ///   - delivery: How the outbox delivers its events; `.direct` if calls reach the vendor directly.
    ///   - propagatesTrace: Whether the plugin's requests carry their trace context.
    ///   - cacheBytes: The most bytes of responses that the host keeps for the plugin to use again: 0 to ``cacheLimit``.
    ///   - isolation: Where the plugin runs.
    public init(
        _ name: String,
        plugin: String,
        version: SemanticVersion? = nil,
        config: JSONObject = [:],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = [],
        with: [String: String] = [:],
        timeout: Duration? = nil,
        trial: Duration? = nil,
        retry: RetryPolicy? = nil,
        heal: HealPolicy? = HealPolicy(),
        breaker: BreakerPolicy? = nil,
        probeInterval: Duration? = Connector.defaultProbeInterval,
        allowedHosts: [HostRule]? = nil,
        delivery: DeliveryPolicy? = DeliveryPolicy(),
        propagatesTrace: Bool = false,
        cacheBytes: Int = 0,
        isolation: Isolation = Isolation()
    ) {
        self.init(
            Members(
                name: name,
                path: name,
                isRequired: isRequired,
                isEnabled: isEnabled,
                after: after,
                with: with,
                timeout: timeout,
                trial: trial,
                retry: retry,
                heal: heal,
                breaker: breaker,
                probeInterval: probeInterval,
                allowedHosts: allowedHosts,
                delivery: delivery,
                propagatesTrace: propagatesTrace,
                cacheBytes: cacheBytes,
                isolation: isolation,
                kind: .leaf(Leaf(plugin: PluginSpecification(plugin, version: version), config: config))
            )
        )
    }

    /// Creates a leaf of a plugin that the application links. It is validated as part of a ``Configuration``.
    ///
    /// It has the manifest, states, services and rules of a loaded plugin; only finding and loading an image is skipped. To add it
    /// to the connectors of a file, see ``Configuration/appending(_:environment:)``.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - plugin: The plugin's type, from a module that the application links.
    ///   - config: The plugin's own fields; values may contain `${NAME}` or be `["secret": "env:NAME"]`.
    ///   - isRequired: Whether the parent fails without this connector; nil for the default of the parent's policy.
    ///   - isEnabled: Whether the connector is part of the tree at all.
    ///   - after: Connectors, by name or path, that must finish opening or fail before this one starts to open.
    ///   - with: The connectors that the plugin uses: names or paths by the names in its manifest's `uses`; the host binds others.
    ///   - timeout: The timeout of one attempt to open; nil for the host's default.
    ///   - trial: How long a reload keeps the earlier instance, to go back to it if its successor disappoints; nil for no trial.
    ///   - retry: How often to try to open before the gate fails; nil for once.
    ///   - heal: How a failed gate is retried until it is closed; nil for never.
    ///   - breaker: When calls are kept from a gate whose calls fail; nil for never.
    ///   - probeInterval: How often an open gate is probed; nil for never.
    ///   - allowedHosts: The only hosts that the plugin may reach; nil for those in its manifest.
    ///   - delivery: How the outbox delivers its events; `.direct` if calls reach the vendor directly.
    ///   - propagatesTrace: Whether the plugin's requests carry their trace context.
    ///   - cacheBytes: The most bytes of responses that the host keeps for the plugin to use again: 0 to ``cacheLimit``.
    public init(
        _ name: String,
        plugin: any LinkablePlugin.Type,
        config: JSONObject = [:],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = [],
        with: [String: String] = [:],
        timeout: Duration? = nil,
        trial: Duration? = nil,
        retry: RetryPolicy? = nil,
        heal: HealPolicy? = HealPolicy(),
        breaker: BreakerPolicy? = nil,
        probeInterval: Duration? = Connector.defaultProbeInterval,
        allowedHosts: [HostRule]? = nil,
        delivery: DeliveryPolicy? = DeliveryPolicy(),
        propagatesTrace: Bool = false,
        cacheBytes: Int = 0
    ) {
        self.init(
            name,
            plugin: "",
            isRequired: isRequired,
            isEnabled: isEnabled,
            after: after,
            with: with,
            timeout: timeout,
            trial: trial,
            retry: retry,
            heal: heal,
            breaker: breaker,
            probeInterval: probeInterval,
            allowedHosts: allowedHosts,
            delivery: delivery,
            propagatesTrace: propagatesTrace,
            cacheBytes: cacheBytes
        )
        self = changing { $0.kind = .leaf(Leaf(plugin: PluginSpecification(plugin.linkedPlugin), config: config)) }
    }

    /// Creates another place of a leaf: one gate that is in several composites. It is validated as part of a ``Configuration``.
    ///
    /// Everything but its name and its part in the composite belongs to the leaf: its configuration, its outbox, its state.
    ///
    /// ```swift
    /// Connector("crash", policy: .first, connectors: [Connector("sentry", same: "sentry"), …])
    /// ```
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - leaf: The path of the leaf.
    ///   - isRequired: Whether the parent fails without this connector; nil for the default of the parent's policy.
    ///   - isEnabled: Whether this place is part of the tree at all.
    public init(_ name: String, same leaf: String, isRequired: Bool? = nil, isEnabled: Bool = true) {
        self.init(
            Members(name: name, path: name, isRequired: isRequired, isEnabled: isEnabled, kind: .same(path: leaf))
        )
    }

    /// Creates a composite. It is validated as part of a ``Configuration``.
    ///
    /// - Parameters:
    ///   - name: Unique among its siblings; lower-case letters, digits, `-`, `_` and `.`.
    ///   - policy: How calls are routed to the children.
    ///   - connectors: The children, at least one.
    ///   - isRequired: Whether the parent fails without this connector; nil for the default of the parent's policy.
    ///   - isEnabled: Whether the composite and its descendants are part of the tree at all.
    ///   - after: Connectors, by name or path, that must finish opening or fail before this one starts to open.
    ///   - delivery: How the outbox delivers its events; `.direct` if calls reach the vendors directly. With the policy `all`,
    ///     each child's own setting applies instead.
    public init(
        _ name: String,
        policy: Policy = .all,
        connectors: [Connector],
        isRequired: Bool? = nil,
        isEnabled: Bool = true,
        after: [String] = [],
        delivery: DeliveryPolicy? = DeliveryPolicy()
    ) {
        self.init(
            Members(
                name: name,
                path: name,
                isRequired: isRequired,
                isEnabled: isEnabled,
                after: after,
                delivery: delivery,
                kind: .composite(policy: policy.policy, children: connectors)
            )
        )
    }
}
