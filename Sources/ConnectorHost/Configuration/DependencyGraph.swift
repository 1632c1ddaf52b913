// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Which connector waits for which, through `after`, through composites and through sequences.
///
/// A composite has opened when its children have, and its children start when it starts. So what waits for a composite
/// waits for all of it, and what a composite waits for holds up everything below it.
package struct DependencyGraph {
    /// One connector waits for another to have opened, because its `after` says so.
    package struct Wait: Sendable, Hashable {
        /// The path of the connector that waits.
        package let waiting: String
        /// The path of the one that it waits for.
        package let target: String

        /// Says that one waits for another.
        package init(waiting: String, target: String) {
            self.waiting = waiting
            self.target = target
        }
    }

    /// A circle.
    package struct Cycle: Sendable, Hashable {
        /// The entries of `after` without which there would be none.
        package let waits: [Wait]
        /// The connectors in the order of waiting; the first one is the last one again.
        package let path: [String]
    }

    /// One connector has two moments: its start, and its having opened. Moment 2n is the start of connector n.
    private var edges: [[(moment: Int, wait: Wait?)]]

    /// Takes connectors whose `after` holds paths.
    package init(_ connectors: [Connector]) {
        var numbers: [String: Int] = [:]
        let all = connectors.flatMap(\.selfAndDescendants)
        for (number, connector) in all.enumerated() where numbers[connector.path] == nil {
            numbers[connector.path] = number
        }
        edges = Array(repeating: [], count: 2 * all.count)
        for (number, connector) in all.enumerated() {
            edges[2 * number + 1].append((2 * number, nil))
            for target in connector.after {
                guard let found = numbers[target] else { continue }
                edges[2 * number].append((2 * found + 1, Wait(waiting: connector.path, target: target)))
            }
            var previous: Int?
            for child in connector.children {
                guard let below = numbers[child.path] else { continue }
                edges[2 * number + 1].append((2 * below + 1, nil))
                edges[2 * below].append((2 * number, nil))
                if connector.policy?.opensInOrder ?? false {
                    if let previous { edges[2 * below].append((2 * previous + 1, nil)) }
                    previous = below
                }
            }
        }
    }

    /// More circles than that tell nobody more.
    private static let cycleLimit = 100

    /// Circles, such that opening could go on if each was broken; in the order of the file.
    package func cycles() -> [Cycle] {
        enum State { case unseen, active, done }
        var states = Array(repeating: State.unseen, count: edges.count)
        var found: [Cycle] = []
        for root in edges.indices where states[root] == .unseen && found.count < Self.cycleLimit {
            // The way from the root to here, without recursion: a chain may be as long as the file. `next` counts the
            // edges already followed.
            var way: [(moment: Int, next: Int)] = [(root, 0)]
            states[root] = .active
            while let last = way.last {
                guard last.next < edges[last.moment].count else {
                    states[last.moment] = .done
                    way.removeLast()
                    continue
                }
                way[way.count - 1].next += 1
                let target = edges[last.moment][last.next].moment
                switch states[target] {
                case .done: break
                case .unseen:
                    states[target] = .active
                    way.append((target, 0))
                case .active:
                    let start = way.lastIndex { $0.moment == target } ?? 0
                    let waits = way[start...].compactMap { edges[$0.moment][$0.next - 1].wait }
                    if let cycle = cycle(waits), !found.contains(where: { Set($0.waits).isSubset(of: waits) }) {
                        found.append(cycle)
                    }
                }
            }
        }
        return found
    }

    private func cycle(_ waits: [Wait]) -> Cycle? {
        guard let first = waits.first else { return nil }
        var path: [String] = []
        for wait in waits {
            if path.last != wait.waiting { path.append(wait.waiting) }
            path.append(wait.target)
        }
        if path.last != first.waiting { path.append(first.waiting) }
        return Cycle(waits: waits, path: path)
    }
}
