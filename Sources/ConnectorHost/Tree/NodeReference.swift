// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A reference to a connector by path, resolved in the current snapshot of the tree.
struct NodeReference: Sendable {
    /// The connector's path.
    let path: String
    /// The tree in which the connector is found.
    let tree: CurrentTree
    /// The node of the path, and the number of its snapshot.
    private let found: (node: Node, number: UInt64)

    /// Finds a connector.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    init(_ path: String, in tree: CurrentTree) throws(ConnectorError) {
        (self.path, self.tree) = (path, tree)
        found = try tree.node(path)
    }

    /// The node of the path in the current snapshot; needs a lookup only if the snapshot has changed.
    ///
    /// - Throws: `unknown-connector` if the connector no longer exists.
    var node: Node {
        get throws(ConnectorError) { isCurrent ? found.node : try tree.node(path).node }
    }

    private var isCurrent: Bool { tree.number == found.number }

    /// Lends the node to the body, without counting a reference unless the snapshot has changed.
    ///
    /// - Throws: `unknown-connector` if the connector no longer exists.
    @inline(__always)
    func lend<Result>(_ body: (Node) throws(ConnectorError) -> Result) throws(ConnectorError) -> Result {
        isCurrent ? try body(found.node) : try body(tree.node(path).node)
    }
}
