// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// Finds the leaves of a configuration by their paths. Thread-safe.
final class LeafFinder: Sendable {
    private typealias Leaves = [String: (connector: Connector, leaf: Connector.Leaf)]
    private let configuration: Configuration
    /// Created by the first search, which most configurations never need.
    private let leaves = Mutex<Leaves?>(nil)

    /// Creates a finder that has not searched yet.
    init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// The enabled leaf of a path; nil if there is none.
    func leaf(_ path: String) -> (connector: Connector, leaf: Connector.Leaf)? {
        leaves.withLock { leaves in
            let known =
                leaves ?? configuration.enabledLeaves.reduce(into: [:]) { $0[$1.connector.path] = $1 }
            leaves = known
            return known[path]
        }
    }
}
