// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// The current snapshot of the tree. A change publishes the next snapshot; calls in flight finish on the one they
/// started on.
final class CurrentTree: Sendable {
    private struct State {
        var tree: Tree
        /// The snapshot that a reload is preparing; nil if there is none.
        var pending: Tree?

        /// The connectors of both snapshots.
        var nodes: [Node] { tree.nodes + (pending?.nodes ?? []) }
    }

    private let state: Mutex<State>
    /// The number of the snapshot, readable without the lock; changed only under it.
    private let published = Atomic<UInt64>(1)

    /// Publishes the first snapshot.
    init(_ tree: Tree) {
        state = Mutex(State(tree: tree))
    }

    /// The current snapshot.
    var tree: Tree { state.withLock(\.tree) }

    /// The number of the current snapshot. A node found in a snapshot stays valid until the number changes. Takes no
    /// lock.
    var number: UInt64 { published.load(ordering: .acquiring) }

    /// Publishes the next snapshot.
    ///
    /// - Parameter next: Creates the next snapshot from the current one, under the lock.
    func publish(_ next: (Tree) -> Tree) {
        change { state in
            state.tree = next(state.tree)
            state.pending = nil
            published.add(1, ordering: .releasing)
        }
    }

    /// Changes the snapshots, and retires the tallies that are no longer in any of them.
    private func change(_ body: (inout State) -> Void) {
        let (before, after) = state.withLock { state in
            let before = state.nodes
            body(&state)
            return (before, state.nodes)
        }
        let tallies = Set(after.map { ObjectIdentifier($0.tally) })
        for node in before where !tallies.contains(ObjectIdentifier(node.tally)) { node.tally.retire() }
    }

    /// The snapshot that a reload is preparing, whose new gates open before it is published; nil if there is none.
    var pending: Tree? {
        get { state.withLock(\.pending) }
        set { change { $0.pending = newValue } }
    }

    /// Finds a connector for a plugin that uses it, first in the pending snapshot: a gate that opens for that snapshot
    /// may need others of it.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    func usedNode(_ path: String) throws(ConnectorError) -> Node {
        if let node = pending?[path] { return node }
        return try node(path).node
    }

    /// Finds a connector by path.
    ///
    /// - Returns: The node, and the number of its snapshot.
    /// - Throws: `unknown-connector` if no connector has the path.
    func node(_ path: String) throws(ConnectorError) -> (node: Node, number: UInt64) {
        let (tree, number) = state.withLock { ($0.tree, published.load(ordering: .relaxed)) }
        return (try tree.node(path), number)
    }
}
