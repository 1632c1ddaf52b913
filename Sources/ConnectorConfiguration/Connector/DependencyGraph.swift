// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The order in which connectors open, given by `after`, `with`, composites and sequences.
///
/// A composite is open once its children are, and its children start when it does. So a connector that waits for a composite
/// waits for all its children, and a composite that waits delays all its children.
package struct DependencyGraph {
    /// An entry of `after` or `with`: one connector waits until another has opened.
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

    /// Connectors that wait for each other.
    package struct Cycle: Sendable, Hashable, CustomStringConvertible {
        /// The entries of `after` and `with` that form the cycle.
        package let waits: [Wait]
        /// The connectors along the cycle; the first and the last are the same.
        package let path: [String]

        /// The path in one line, abbreviated in the middle if it is long.
        package var description: String {
            let shown = path.count <= 12 ? path : path.prefix(8) + ["(\(path.count - 10) more)"] + path.suffix(2)
            return shown.joined(separator: " → ")
        }
    }

    /// The number of edges followed and compared so far.
    package private(set) var steps = 0

    /// The number of each connector, by path.
    private let numbers: [String: Int]

    /// The edges from each node. Connector n has two nodes: 2n is when it starts to open, 2n + 1 when it is open.
    private var edges: [[(node: Int, wait: Wait?)]]

    /// Creates the graph of connectors; each `after` and `with` must contain resolved paths.
    package init(_ connectors: [Connector]) {
        var numbers: [String: Int] = [:]
        let all = connectors.selvesAndDescendants
        for (number, connector) in all.enumerated() where numbers[connector.path] == nil {
            numbers[connector.path] = number
        }
        self.numbers = numbers
        edges = Array(repeating: [], count: 2 * all.count)
        for (number, connector) in all.enumerated() {
            edges[2 * number + 1].append((2 * number, nil))
            for target in connector.targets {
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

    /// The number of steps after which ``waits(_:for:)`` no longer searches.
    private static let searchLimit = 200_000

    /// Whether a connector has opened only after another has begun to, so that the other cannot wait for it.
    ///
    /// - Returns: False, too, in a file that is too large to be searched again and again.
    mutating func waits(_ path: String, for other: String) -> Bool {
        guard let first = numbers[path], let last = numbers[other] else { return false }
        var seen: Set = [2 * first + 1]
        var rest = [2 * first + 1]
        while steps < Self.searchLimit, let node = rest.popLast() {
            if node == 2 * last { return true }
            steps += edges[node].count
            rest += edges[node].map { $0.node }.filter { seen.insert($0).inserted }
        }
        return false
    }

    /// The maximum number of cycles to report.
    private static let cycleLimit = 100

    /// Finds cycles, in file order.
    ///
    /// The search is bounded by the number of edges: it may miss some of many cycles, but always finds one if any exists.
    package mutating func cycles() -> [Cycle] {
        enum State { case unseen, active, done }
        var states = Array(repeating: State.unseen, count: edges.count)
        var found: [Cycle] = []
        let limit = 4 * (edges.count + edges.reduce(0) { $0 + $1.count }) + 10_000
        for root in edges.indices where states[root] == .unseen && found.count < Self.cycleLimit {
            // The path from the root to the current node, on an explicit stack because it may be as long as the file. `next` is
            // the index of the next edge to follow.
            var stack: [(node: Int, next: Int)] = [(root, 0)]
            states[root] = .active
            while let last = stack.last {
                guard last.next < edges[last.node].count else {
                    states[last.node] = .done
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                steps += 1
                let target = edges[last.node][last.next].node
                switch states[target] {
                case .done: break
                case .unseen:
                    states[target] = .active
                    stack.append((target, 0))
                case .active:
                    let start = stack.lastIndex { $0.node == target } ?? 0
                    let waits = stack[start...].compactMap { edges[$0.node][$0.next - 1].wait }
                    steps += stack.count - start + found.count * waits.count
                    if let cycle = cycle(waits) {
                        let members = Set(waits)
                        if !found.contains(where: { members.isSuperset(of: $0.waits) }) { found.append(cycle) }
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
