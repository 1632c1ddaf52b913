// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
public import ConnectorServices

/// A node of the tree: a leaf, which names a plugin, or a composite, which has children and a policy.
///
/// Nothing is inherited: each connector says itself what differs from the defaults. Connectors come from `connectors.json`, or are
/// made in Swift: see ``Configuration/init(connectors:plugins:directory:environment:)``.
public struct Connector: Sendable {
    /// Unique among its siblings.
    public let name: String
    /// The names from the root, such as `analytics/segment`.
    public let path: String
    /// Whether what is above it fails without it, as written; nil leaves it to the policy above.
    public package(set) var isRequired: Bool?
    /// Whether it takes part at all; a disabled composite disables everything below it.
    public package(set) var isEnabled: Bool
    /// The paths of the connectors that have opened, or failed to, before this one starts; disabled ones among them.
    public package(set) var after: [String]
    /// How long opening may take; nil leaves it to the host.
    public package(set) var timeout: Duration?
    /// Whether and how opening is tried again; nil for a single attempt.
    public package(set) var retry: RetryPolicy?
    /// How a gate that failed to open is tried again until its host closes; nil for never.
    public package(set) var heal: HealPolicy?
    /// How often an open gate proves that it still works; nil for never.
    public package(set) var probeInterval: Duration?
    /// The only hosts that the plugin may talk to, in the place of those its manifest names; nil leaves it to the manifest.
    public package(set) var allowedHosts: [HostRule]?
    /// Leaf or composite.
    package var kind: Kind
    /// Where it stands in the file.
    package let location: JSONPath

    /// How often a gate is probed if its connector says nothing.
    public static let defaultProbeInterval: Duration = .seconds(60)

    /// What a connector is.
    package enum Kind: Sendable {
        case leaf(Leaf)
        case composite(policy: CompositePolicy, children: [Connector])
    }

    /// What a leaf says of its plugin.
    package struct Leaf: Sendable {
        /// Which plugin.
        package let plugin: PluginSpecification
        /// Its configuration as written, before variables and secrets are put in.
        package let config: JSONObject
    }
}

extension Connector {
    /// The connectors one level below.
    public var children: [Connector] {
        if case .composite(_, let children) = kind { children } else { [] }
    }

    /// Whether what is above it fails without it.
    ///
    /// - Parameter policy: The policy of the composite above; nil at the top.
    package func isRequired(under policy: CompositePolicy?) -> Bool { isRequired ?? policy?.requiresChildren ?? true }

    /// The policy of a composite; nil for a leaf.
    package var policy: CompositePolicy? {
        if case .composite(let policy, _) = kind { policy } else { nil }
    }

    /// This one, then everything below it in the order of the file.
    package var selfAndDescendants: [Connector] { [self] + children.flatMap(\.selfAndDescendants) }

    /// The leaves below, or this one, that no `enabled` switches off.
    package var enabledLeaves: [(connector: Connector, leaf: Leaf)] {
        guard isEnabled else { return [] }
        return switch kind {
        case .leaf(let leaf): [(self, leaf)]
        case .composite(_, let children): children.flatMap(\.enabledLeaves)
        }
    }
}
