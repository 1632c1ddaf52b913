// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Synchronization

/// The snapshot of the tree that calls go to now; a change publishes the next one, and calls in flight finish on theirs.
final class CurrentTree: Sendable {
    private struct State {
        var tree: Tree
        var number: UInt64
    }

    private let state: Mutex<State>
    /// The number of the snapshot, to be read without the lock.
    private let published = Atomic<UInt64>(1)

    /// Begins with a first snapshot.
    init(_ tree: Tree) {
        state = Mutex(State(tree: tree, number: 1))
    }

    /// The snapshot itself.
    var tree: Tree { state.withLock(\.tree) }

    /// Which snapshot it is: whoever has found something in it need not look again before the number changes. Takes no lock.
    var number: UInt64 { published.load(ordering: .acquiring) }

    /// Puts the next snapshot in the place of this one.
    ///
    /// - Parameter next: Makes it of this one, under the lock.
    func publish(_ next: (Tree) -> Tree) {
        state.withLock { state in
            state.tree = next(state.tree)
            state.number += 1
            published.store(state.number, ordering: .releasing)
        }
    }

    /// Finds a connector by its path.
    ///
    /// - Returns: Its node, and the number of the snapshot that the node belongs to.
    /// - Throws: `unknown-connector` if there is none.
    func node(_ path: String) throws(ConnectorError) -> (node: Node, number: UInt64) {
        let state = state.withLock(\.self)
        if let node = state.tree[path] { return (node, state.number) }
        throw ConnectorError(
            .unknownConnector,
            "there is no enabled connector \"\(path)\"",
            fix: suggestion(for: path, among: state.tree.nodes.map(\.path))
        )
    }
}
