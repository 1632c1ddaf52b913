// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Which connector waits for which, through `after`, composites and sequences.
///
/// A composite has opened when its children have, and its children start when it starts. So a connector that waits for
/// a composite waits for all of it, and a composite that waits holds up everything below it.
package struct DependencyGraph {
    /// An entry of `after`: one connector waits until another has opened.
    package struct Wait: Sendable, Hashable {
        /// The path of the waiting connector.
        package let waiting: String
        /// The path of the connector it waits for.
        package let target: String

        /// Creates a wait.
        package init(waiting: String, target: String) {
            self.waiting = waiting
            self.target = target
        }
    }

    /// A circle.
    package struct Cycle: Sendable, Hashable {
        /// The entries of `after` that form the circle.
        package let waits: [Wait]
        /// The connectors in the order of waiting; the first is also the last.
        package let path: [String]
    }

    /// How many edges were followed and compared so far.
    package private(set) var steps = 0

    /// The edges from each moment. Connector n has two: 2n is its start, 2n + 1 its opening.
    private var edges: [[(moment: Int, wait: Wait?)]]

    /// Creates the graph of connectors whose `after` holds paths.
    package init(_ connectors: [Connector]) {
        var numbers: [String: Int] = [:]
        let all = connectors.selvesAndDescendants
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
            // A further place has opened when its leaf has. It does not hold the leaf up.
            if let leaf = connector.same, let found = numbers[leaf] {
                edges[2 * number + 1].append((2 * found + 1, nil))
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

    /// The most circles worth reporting.
    private static let cycleLimit = 100

    /// Circles in the order of the file; without them, opening could proceed.
    ///
    /// The search is bounded by the number of edges: it may miss some of many circles, but always finds one if there is one.
    package mutating func cycles() -> [Cycle] {
        enum State { case unseen, active, done }
        var states = Array(repeating: State.unseen, count: edges.count)
        var found: [Cycle] = []
        let limit = 4 * (edges.count + edges.reduce(0) { $0 + $1.count }) + 10_000
        for root in edges.indices where states[root] == .unseen && found.count < Self.cycleLimit {
            // The path from the root to here. A loop replaces recursion because a chain may be as long as the file. `next` counts
            // the edges followed so far.
            var way: [(moment: Int, next: Int)] = [(root, 0)]
            states[root] = .active
            while let last = way.last {
                guard last.next < edges[last.moment].count else {
                    states[last.moment] = .done
                    way.removeLast()
                    continue
                }
                way[way.count - 1].next += 1
                steps += 1
                let target = edges[last.moment][last.next].moment
                switch states[target] {
                case .done: break
                case .unseen:
                    states[target] = .active
                    way.append((target, 0))
                case .active:
                    let start = way.lastIndex { $0.moment == target } ?? 0
                    let waits = way[start...].compactMap { edges[$0.moment][$0.next - 1].wait }
                    steps += way.count - start + found.count * waits.count
                    if let cycle = cycle(waits) {
                        let circle = Set(waits)
                        if !found.contains(where: { circle.isSuperset(of: $0.waits) }) { found.append(cycle) }
                    }
                    if steps > limit || found.count >= Self.cycleLimit { return found }
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
