// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Leaves that run as they did before this configuration, because their successors could not be used.
extension ResolvedConfiguration {
    /// Whether a leaf runs with other settings than the configuration says.
    package var keepsLeaves: Bool { !kept.isEmpty }

    /// Notes that a leaf runs as it did before.
    ///
    /// - Parameters:
    ///   - connector: The connector of the earlier configuration; nil if none described the leaf.
    ///   - leaf: What that connector meant with its plugin.
    package mutating func keep(
        _ path: String,
        as connector: Connector?,
        _ leaf: Result<ResolvedLeaf, ConnectorError>?
    ) {
        kept[path] = connector
        // The location of its source is in the texts of the earlier configuration.
        leaves[path] = leaf.map { leaf -> Result<ResolvedLeaf, ConnectorError> in
            leaf.map { resolved -> ResolvedLeaf in
                var members = resolved.members.value
                members.source = nil
                return ResolvedLeaf(members)
            }
        }
    }

    /// The enabled connectors as they run, parents first.
    package var runningConnectors: [Connector] { configuration.enabledConnectors.map { running($0) } }

    /// A connector of the configuration as it runs.
    func running(_ connector: Connector) -> Connector {
        kept[connector.path].map { connector.withSettings(of: $0) } ?? connector
    }
}

extension Connector {
    /// This leaf with the settings of an earlier one, except those that the tree and the outbox read: these are in use
    /// also if the leaf's successor is not.
    fileprivate func withSettings(of earlier: Connector) -> Connector {
        earlier.changing { members in
            (members.isRequired, members.isEnabled, members.was) = (isRequired, isEnabled, was)
            (members.after, members.delivery, members.location) = (after, delivery, location)
        }
    }
}
