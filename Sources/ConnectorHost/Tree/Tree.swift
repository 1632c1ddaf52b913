// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The composite tree of connectors while the host runs it: an immutable value over the gates.
///
/// Disabled connectors are not in it.
struct Tree: Sendable {
    /// One connector.
    struct Node: Sendable {
        /// Its place, such as `analytics/segment`.
        let path: String
        /// Whether it and everything above it is required.
        let isRequired: Bool
        /// Whether the composite above it, or the whole, has failed if this one has.
        let isRequiredByParent: Bool
        /// How it treats its children; nil for a leaf.
        let policy: CompositePolicy?
        /// The nodes one level below.
        let children: [Int]
        /// The connection of a leaf; nil for a composite.
        let gate: Gate?
        /// Where a composite of the policy `compare` notes what differs.
        let comparison: Comparison
    }

    /// Parents before their children, in the order of the file.
    private(set) var nodes: [Node] = []
    /// The nodes at the top.
    private(set) var roots: [Int] = []
    private var indices: [String: Int] = [:]
    private let onChange: @Sendable () -> Void
    /// For each node that waits: the nodes whose opening it waits for.
    private var waits: [Int: [Int]] = [:]

    /// Builds the tree of a configuration.
    ///
    /// - Parameters:
    ///   - onChange: Told when a composite has found out more than the gates tell: how answers differ.
    ///   - makeGate: Makes the gate of a leaf; its second argument says whether the leaf is required.
    init(
        _ connectors: [Connector],
        onChange: @escaping @Sendable () -> Void = {},
        makeGate: (Connector, Bool) -> Gate
    ) {
        self.onChange = onChange
        roots = connectors.filter(\.isEnabled).map { add($0, isRequired: true, makeGate) }
        let all = connectors.flatMap(\.selfAndDescendants)
        for connector in all {
            guard let index = indices[connector.path] else { continue }
            let targets = connector.after.compactMap { indices[$0] }
            if !targets.isEmpty { waits[index, default: []] += targets }
            guard connector.policy?.opensInOrder == true else { continue }
            for (child, previous) in zip(nodes[index].children.dropFirst(), nodes[index].children) {
                waits[child, default: []].append(previous)
            }
        }
    }

    private mutating func add(_ connector: Connector, isRequired: Bool, _ makeGate: (Connector, Bool) -> Gate) -> Int {
        let isRequired = isRequired && connector.isRequired
        let index = nodes.count
        let gate = connector.policy == nil ? makeGate(connector, isRequired) : nil
        let comparison = Comparison(onChange: onChange)
        func node(_ children: [Int]) -> Node {
            Node(
                path: connector.path,
                isRequired: isRequired,
                isRequiredByParent: connector.isRequired,
                policy: connector.policy,
                children: children,
                gate: gate,
                comparison: comparison
            )
        }
        nodes.append(node([]))
        indices[connector.path] = index
        nodes[index] = node(connector.children.filter(\.isEnabled).map { add($0, isRequired: isRequired, makeGate) })
        return index
    }

    /// The number of the node of a path.
    func index(_ path: String) -> Int? { indices[path] }

    /// The connections, in the order of the file.
    var gates: [Gate] { nodes.compactMap(\.gate) }

    /// The connections of a node: its own, or all below it.
    func gates(of index: Int) -> [Gate] { leaves(of: index).compactMap { nodes[$0].gate } }

    // MARK: Order

    /// Does something with gates at once, but only after it was done with those that a gate waits for.
    ///
    /// The whole takes as long as the longest chain.
    ///
    /// - Parameter index: Only the gates of this node, and those they wait for; nil for all.
    func forEachGate(
        _ order: Order,
        of index: Int? = nil,
        _ body: @escaping @Sendable (Gate) async -> Void
    ) async {
        let waits = order == .opening ? leafWaits : reversed(leafWaits)
        let waiting = reversed(waits)
        let wanted = wanted(index, waits)
        await withTaskGroup(of: Int.self) { group in
            var missing = waits.map { $0.count { wanted[$0] } }
            func start(_ leaf: Int) {
                guard let gate = nodes[leaf].gate, wanted[leaf] else { return }
                group.addTask {
                    await body(gate)
                    return leaf
                }
            }
            for leaf in nodes.indices where missing[leaf] == 0 { start(leaf) }
            while let done = await group.next() {
                for leaf in waiting[done] {
                    missing[leaf] -= 1
                    if missing[leaf] == 0 { start(leaf) }
                }
            }
        }
    }

    /// Whether a node is one of the leaves of another, or one that these wait for, and so on; all are, of nil.
    private func wanted(_ index: Int?, _ waits: [[Int]]) -> [Bool] {
        var wanted = Array(repeating: index == nil, count: nodes.count)
        var open = index.map(leaves) ?? []
        while let leaf = open.popLast() {
            guard !wanted[leaf] else { continue }
            wanted[leaf] = true
            open += waits[leaf]
        }
        return wanted
    }

    /// Which way ``forEachGate(_:_:)`` goes.
    enum Order {
        /// Those that are waited for first.
        case opening
        /// Those that wait first.
        case closing
    }

    /// For each leaf: the leaves that it waits for, by itself or by a composite above it.
    private var leafWaits: [[Int]] {
        var result: [[Int]] = Array(repeating: [], count: nodes.count)
        guard !waits.isEmpty else { return result }
        func walk(_ index: Int, inherited: [Int]) {
            let targets = inherited + (waits[index] ?? [])
            if nodes[index].gate != nil, !targets.isEmpty {
                result[index] = Array(Set(targets.flatMap(leaves))).sorted()
            }
            for child in nodes[index].children { walk(child, inherited: targets) }
        }
        for root in roots { walk(root, inherited: []) }
        return result
    }

    /// The leaves of a node: itself, or all below it.
    private func leaves(of index: Int) -> [Int] {
        nodes[index].gate == nil ? nodes[index].children.flatMap(leaves) : [index]
    }

    private func reversed(_ waits: [[Int]]) -> [[Int]] {
        var result: [[Int]] = Array(repeating: [], count: waits.count)
        for (waiting, targets) in waits.enumerated() {
            for target in targets { result[target].append(waiting) }
        }
        return result
    }
}
