// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// A reference to a connector by path, resolved in the current snapshot of the tree.
struct NodeReference: Sendable {
    /// The connector's path.
    let path: String
    /// The tree in which the connector is found.
    let tree: CurrentTree
    /// The connector in the snapshot in which the reference was made, readable without a lock.
    private let first: Found
    /// The connector in a later snapshot.
    private let latest = LatestNode()

    /// Finds a connector.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    init(_ path: String, in tree: CurrentTree) throws(ConnectorError) {
        (self.path, self.tree) = (path, tree)
        first = try Found(path, in: tree)
    }

    /// The node of the path in the current snapshot; looks it up by path only once for each snapshot.
    ///
    /// - Throws: `unknown-connector` if the connector no longer exists.
    var node: Node {
        get throws(ConnectorError) { isFirst ? first.node : try latest.node(path, in: tree) }
    }

    private var isFirst: Bool { tree.number == first.number }

    /// Lends the node to the body, without counting a reference to it unless a later snapshot has been published.
    ///
    /// - Throws: `unknown-connector` if the connector no longer exists.
    @inline(__always)
    func lend<Result>(_ body: (Node) throws(ConnectorError) -> Result) throws(ConnectorError) -> Result {
        isFirst ? try body(first.node) : try body(latest.node(path, in: tree))
    }

    /// A node, and the number of its snapshot.
    private struct Found {
        let node: Node
        let number: UInt64

        init(_ path: String, in tree: CurrentTree) throws(ConnectorError) { (node, number) = try tree.node(path) }
    }

    /// What was found in the latest snapshot that anyone looked at; shared by the copies of a reference.
    private final class LatestNode: Sendable {
        private let found = Mutex<Found?>(nil)

        /// The node of the path in the current snapshot.
        ///
        /// A caller that was overtaken by a change may leave the node of an older snapshot here, whose number the next caller
        /// does not accept.
        func node(_ path: String, in tree: CurrentTree) throws(ConnectorError) -> Node {
            let number = tree.number
            if let known = found.withLock(\.self), known.number == number { return known.node }
            let next = try Found(path, in: tree)
            // The last reference to the earlier node may end here: outside the lock.
            _ = found.withLock { known in
                defer { known = next }
                return known
            }
            return next.node
        }
    }
}
