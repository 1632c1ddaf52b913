// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
public import ConnectorOutbox
public import ConnectorServices

/// A node of the tree: a leaf, which names a plugin, or a composite, which has children and a policy.
///
/// A connector inherits only its isolation and its breaker from its parent. Connectors come from `connectors.json`, or
/// from Swift: see
/// ``Configuration/init(name:connectors:plugins:state:requiresTrust:reloadMode:directory:environment:)``.
public struct Connector: Sendable {
    /// The connector's name, unique among its siblings.
    public var name: String { members.value.name }
    /// The names from the root down, such as `analytics/segment`.
    public var path: String { members.value.path }
    /// Whether the parent fails without this connector, as written; nil for the default of the parent's policy.
    public var isRequired: Bool? { members.value.isRequired }
    /// Whether the connector is part of the tree at all; a disabled composite disables its descendants.
    public var isEnabled: Bool { members.value.isEnabled }
    /// The path that the connector had before it was renamed or moved, so that a reload keeps its events; nil if it had no other.
    public var was: String? {
        get { members.value.was }
        set { members.value.was = newValue }
    }
    /// The paths of the connectors, including disabled ones, that must finish opening or fail before this one starts to open.
    public var after: [String] { members.value.after }
    /// The paths of the connectors, by the names in the manifest's `uses`, that the plugin calls; the host binds other names.
    public var with: [String: String] { members.value.with }
    /// The optional uses that the host binds to nothing, by their names in the manifest: null in `with`.
    public var unbound: Set<String> {
        get { members.value.unbound }
        set { members.value.unbound = newValue }
    }
    /// Whether anything is said of what the plugin uses.
    var hasBindings: Bool { !with.isEmpty || !unbound.isEmpty }
    /// The timeout of one attempt to open; nil for the host's default.
    public var timeout: Duration? { members.value.timeout }
    /// How long a successor is on trial before its predecessor ends; nil for no trial.
    public var trial: Duration? { members.value.trial }
    /// How often to try to open before the gate fails; nil for once.
    public var retry: RetryPolicy? { members.value.retry }
    /// How a failed gate is retried until it is closed; nil for never.
    public var heal: HealPolicy? { members.value.heal }
    /// When calls are kept from a gate whose calls fail; nil for never.
    public var breaker: BreakerPolicy? { members.value.breaker }
    /// How often an open gate is probed; nil for never.
    public var probeInterval: Duration? { members.value.probeInterval }
    /// The only hosts that the plugin may reach, instead of those in its manifest; nil for the manifest's.
    public var allowedHosts: [HostRule]? { members.value.allowedHosts }
    /// How the outbox delivers the connector's events; nil if calls reach the vendor directly: see ``deliveryMode``.
    public var delivery: DeliveryPolicy? { members.value.delivery }
    /// Whether the plugin's requests carry their trace context, in headers that the application's tracer writes.
    public var propagatesTrace: Bool { members.value.propagatesTrace }
    /// The most bytes of responses that the host keeps for the plugin to use again: 0, the default, for none, up to
    /// ``cacheLimit``.
    public var cacheBytes: Int { members.value.cacheBytes }
    /// Where the plugin runs, as the connector, a composite above it or the file says.
    public var isolation: Isolation { members.value.isolation }
    /// What replaces the vendor in a simulation; nil for the host's own simulators.
    package var simulator: SimulatorReference? { members.value.simulator }
    /// Where the traffic between the gate and its vendor is recorded; nil if it is not.
    package var recording: RecordingTarget? { members.value.recording }
    /// Whether the connector is a leaf or a composite, with its settings.
    package var kind: Kind { members.value.kind }
    /// The location in the file.
    package var location: JSONPath { members.value.location }

    /// The members of a connector, which its copies share.
    struct Members: Sendable {
        var name: String
        var path: String
        var isRequired: Bool?
        var isEnabled = true
        var was: String?
        var after: [String] = []
        var with: [String: String] = [:]
        var unbound: Set<String> = []
        var timeout: Duration?
        var trial: Duration?
        var retry: RetryPolicy?
        var heal: HealPolicy? = HealPolicy()
        var breaker: BreakerPolicy?
        var probeInterval: Duration? = Connector.defaultProbeInterval
        var allowedHosts: [HostRule]?
        var delivery: DeliveryPolicy? = DeliveryPolicy()
        var propagatesTrace = false
        var cacheBytes = 0
        var isolation = Isolation()
        var simulator: SimulatorReference?
        var recording: RecordingTarget?
        var kind: Kind
        var location = JSONPath()
    }

    private var members: Shared<Members>

    /// Creates a connector.
    init(_ members: Members) { self.members = Shared(members) }

    /// The default timeout of one attempt to open.
    package static let defaultTimeout: Duration = .seconds(10)
    /// The greatest ``cacheBytes``, 1 GiB.
    public static let cacheLimit = 1 << 30
    /// The default interval at which an open gate is probed.
    public static let defaultProbeInterval: Duration = .seconds(60)

    /// A leaf or a composite.
    package enum Kind: Sendable {
        case leaf(Leaf)
        case composite(policy: CompositePolicy, children: [Connector])
        /// Another place of the leaf with this path.
        case same(path: String)
    }

    /// A leaf's plugin and configuration.
    package struct Leaf: Sendable {
        /// The plugin to use.
        package let plugin: PluginSpecification
        /// The configuration as written, before variables and secrets are resolved.
        package let config: JSONObject

        /// Whether the configuration, made in Swift, is nested more deeply than a plugin can read.
        var hasDeepConfig: Bool { JSONValue.object(config).isNested(deeperThan: JSONParser.depthLimit) }
    }
}

extension Connector {
    /// The connector with other members. It shares none with this one.
    func changing(_ change: (inout Members) -> Void) -> Connector {
        var members = members.value
        change(&members)
        return Connector(members)
    }

    /// The children of a composite; none for a leaf.
    public var children: [Connector] {
        if case .composite(_, let children) = kind { children } else { [] }
    }

    /// Whether the outbox stores the connector's events, or calls reach the vendor directly. Below a composite with the policy
    /// `all`, each child's own mode applies.
    public var deliveryMode: DeliveryMode { delivery.mode }

    /// Whether the parent fails without this connector.
    ///
    /// - Parameter policy: The parent's policy; nil at the root.
    package func isRequired(under policy: CompositePolicy?) -> Bool { isRequired ?? policy?.requiresChildren ?? true }

    /// The paths of the connectors that this one waits for, each once: those of `after`, then those of `with`.
    package var targets: [String] {
        with.isEmpty ? after : after + Set(with.values).subtracting(after).sorted()
    }

    /// The policy of a composite; nil for a leaf.
    package var policy: CompositePolicy? {
        if case .composite(let policy, _) = kind { policy } else { nil }
    }

    /// The path of the leaf that this connector is another place of; nil for any other connector.
    package var same: String? {
        if case .same(let path) = kind { path } else { nil }
    }

    /// Appends this leaf, or the leaves below, except disabled ones.
    func addEnabledLeaves(to leaves: inout [(connector: Connector, leaf: Leaf)]) {
        guard isEnabled else { return }
        switch kind {
        case .leaf(let leaf): leaves.append((self, leaf))
        case .composite(_, let children):
            for child in children { child.addEnabledLeaves(to: &leaves) }
        case .same: break
        }
    }

    fileprivate func addSelfAndDescendants(to connectors: inout [Connector], where isIncluded: (Connector) -> Bool) {
        guard isIncluded(self) else { return }
        connectors.append(self)
        for child in children { child.addSelfAndDescendants(to: &connectors, where: isIncluded) }
    }
}

extension [Connector] {
    /// The connectors and their descendants in preorder.
    package var selvesAndDescendants: [Connector] {
        reduce(into: []) { $1.addSelfAndDescendants(to: &$0) { _ in true } }
    }

    /// The enabled connectors and their enabled descendants in preorder: those that are part of the tree.
    var enabledSelvesAndDescendants: [Connector] {
        reduce(into: []) { $1.addSelfAndDescendants(to: &$0, where: \.isEnabled) }
    }
}
