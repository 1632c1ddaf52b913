// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
public import ConnectorOutbox
public import ConnectorServices

/// A node of the tree: a leaf, which names a plugin, or a composite, which has children and a policy.
///
/// Connectors inherit nothing: each one states its own settings. They come from `connectors.json`, or from Swift: see
/// ``Configuration/init(connectors:plugins:directory:environment:)``.
public struct Connector: Sendable {
    /// Unique among its siblings.
    public let name: String
    /// The names from the root, such as `analytics/segment`.
    public let path: String
    /// Whether the connector above fails without this one, as written; nil leaves it to the policy above.
    public package(set) var isRequired: Bool?
    /// Whether the connector takes part at all; a disabled composite disables everything below it.
    public package(set) var isEnabled: Bool
    /// The paths of the connectors, disabled ones included, that finish opening, or fail to, before this one starts.
    public package(set) var after: [String]
    /// The longest that one attempt to open may take; nil leaves it to the host.
    public package(set) var timeout: Duration?
    /// The timeout of an attempt to open where the file gives none.
    package static let defaultTimeout: Duration = .seconds(10)
    /// How many attempts opening has before the gate fails; nil for one.
    public package(set) var retry: RetryPolicy?
    /// How a failed gate is tried again until it is closed; nil for never.
    public package(set) var heal: HealPolicy?
    /// How often an open gate is proved; nil for never.
    public package(set) var probeInterval: Duration?
    /// The only hosts that the plugin may reach, in place of its manifest's; nil leaves it to the manifest.
    public package(set) var allowedHosts: [HostRule]?
    /// How the outbox delivers the connector's events; nil if their calls reach the vendor directly: see ``deliveryMode``.
    public package(set) var delivery: DeliveryPolicy?
    /// Whether the plugin's requests carry the trace that they belong to, in headers that the application's tracer
    /// writes.
    public package(set) var propagatesTrace = false
    /// What takes the vendor's place in a simulation; nil leaves it to the simulators that come with the host.
    package internal(set) var simulator: SimulatorReference?
    /// Leaf or composite.
    package var kind: Kind
    /// The position in the file.
    package let location: JSONPath

    /// How often a gate is proved if its connector does not say.
    public static let defaultProbeInterval: Duration = .seconds(60)

    /// The kind of a connector.
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
        /// The configuration as written, before variables and secrets are filled in.
        package let config: JSONObject
    }
}

extension Connector {
    /// The children of a composite; none for a leaf.
    public var children: [Connector] {
        if case .composite(_, let children) = kind { children } else { [] }
    }

    /// Whether the outbox stores the connector's events, or calls reach the vendor directly. The children of a composite of the
    /// policy `all` say so each for themselves.
    public var deliveryMode: DeliveryMode { delivery.mode }

    /// Whether the connector above fails without this one.
    ///
    /// - Parameter policy: The policy of the composite above; nil at the top.
    package func isRequired(under policy: CompositePolicy?) -> Bool { isRequired ?? policy?.requiresChildren ?? true }

    /// The policy of a composite; nil for a leaf.
    package var policy: CompositePolicy? {
        if case .composite(let policy, _) = kind { policy } else { nil }
    }

    /// The path of the leaf that this connector is another place of; nil for any other connector.
    package var same: String? {
        if case .same(let path) = kind { path } else { nil }
    }

    /// Adds this leaf, or the leaves below, without those that `enabled` switches off.
    func addEnabledLeaves(to leaves: inout [(connector: Connector, leaf: Leaf)]) {
        guard isEnabled else { return }
        switch kind {
        case .leaf(let leaf): leaves.append((self, leaf))
        case .composite(_, let children):
            for child in children { child.addEnabledLeaves(to: &leaves) }
        case .same: break
        }
    }

    fileprivate func addSelfAndDescendants(to connectors: inout [Connector]) {
        connectors.append(self)
        for child in children { child.addSelfAndDescendants(to: &connectors) }
    }
}

extension [Connector] {
    /// Each connector, then everything below it, in the order of the file.
    package var selvesAndDescendants: [Connector] { reduce(into: []) { $1.addSelfAndDescendants(to: &$0) } }
}
