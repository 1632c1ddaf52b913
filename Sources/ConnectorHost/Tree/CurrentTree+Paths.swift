// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

extension CurrentTree {
    /// Returns a function that gives the paths of the leaves at and below a path, and follows the tree as it changes. It holds
    /// the tree weakly, because listeners keep the function.
    func paths(below path: String) -> @Sendable () -> Set<String> {
        let cache = PathCache()
        return { [weak self] in
            guard let self else { return [] }
            return cache.paths(self.number) { self.tree.paths(below: path) }
        }
    }
}

/// The paths below a connector in the snapshot in which they were last looked up.
private final class PathCache: Sendable {
    private let state = Mutex<(number: UInt64, paths: Set<String>)>((0, []))

    /// Returns the paths; looks them up again if the snapshot has changed.
    func paths(_ number: UInt64, _ find: () -> Set<String>) -> Set<String> {
        if let known = state.withLock({ $0.number == number ? $0.paths : nil }) { return known }
        let found = find()
        state.withLock { $0 = (number, found) }
        return found
    }
}
