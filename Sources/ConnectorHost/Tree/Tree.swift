// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration
internal import Logging

/// One immutable snapshot of the tree of connectors.
///
/// Disabled connectors are left out.
struct Tree: Sendable {
    /// Parents before their children, in the order of the file.
    let nodes: [Node]
    /// The top-level nodes.
    let roots: [Node]
    private let indices: [String: Int]
    /// For each waiting node, the nodes that must open first.
    private let waits: [Int: [Int]]

    /// Builds the tree of a configuration.
    ///
    /// - Parameters:
    ///   - previous: The previous snapshot, whose counters carry on.
    ///   - metering: The clock and the metrics system.
    ///   - logger: Logs calls that fail below a composite.
    ///   - onChange: Called after a logged failure or a comparison of answers.
    ///   - makeGate: Creates the gate of a leaf.
    init(
        _ connectors: [Connector],
        after previous: Tree? = nil,
        metering: Metering,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void = {},
        makeGate: (Connector) -> Gate
    ) {
        var nodes: [Node?] = []
        func add(_ connector: Connector, under parent: Connector?, isRequired isParentRequired: Bool) -> Node {
            let isRequiredByParent = connector.isRequired(under: parent?.policy)
            let isRequired = isParentRequired && isRequiredByParent
            let index = nodes.count
            nodes.append(nil)
            let gate = connector.policy == nil ? makeGate(connector) : nil
            let counted = previous?[connector.path]
            let node = Node(
                path: connector.path,
                index: index,
                isRequired: isRequired,
                isRequiredByParent: isRequiredByParent,
                policy: connector.policy,
                children: connector.children.filter(\.isEnabled).map {
                    add($0, under: connector, isRequired: isRequired)
                },
                gate: gate,
                delivery: connector.delivery,
                comparison: counted?.comparison ?? Comparison(onChange: onChange),
                tally: counted?.tally ?? CallTally(connector.path, metering, logger: logger, onChange: onChange)
            )
            nodes[index] = node
            return node
        }
        roots = connectors.filter(\.isEnabled).map { add($0, under: nil, isRequired: true) }
        self.nodes = nodes.compactMap(\.self)
        indices = Dictionary(self.nodes.map { ($0.path, $0.index) }, uniquingKeysWith: { first, _ in first })
        waits = Self.waits(connectors, self.nodes, indices)
    }

    /// Which connectors wait for which: because of `after`, or because a policy opens in order.
    private static func waits(_ connectors: [Connector], _ nodes: [Node], _ indices: [String: Int]) -> [Int: [Int]] {
        var waits: [Int: [Int]] = [:]
        for connector in connectors.selvesAndDescendants {
            guard let index = indices[connector.path] else { continue }
            let targets = connector.after.compactMap { indices[$0] }
            if !targets.isEmpty { waits[index, default: []] += targets }
            guard connector.policy?.opensInOrder == true else { continue }
            let children = nodes[index].children.map(\.index)
            for (child, previous) in zip(children.dropFirst(), children) { waits[child, default: []].append(previous) }
        }
        return waits
    }

    /// The node of a path.
    subscript(path: String) -> Node? { indices[path].map { nodes[$0] } }

    /// Every gate, in the order of the file.
    var gates: [Gate] { nodes.compactMap(\.gate) }

    // MARK: Order

    /// Runs a function for all gates concurrently, except that each gate waits for its dependencies.
    ///
    /// The whole takes as long as the longest chain of dependencies.
    ///
    /// - Parameter node: Limits the work to this node's gates and those they wait for; nil for all.
    func forEachGate(
        _ order: Order,
        of node: Node? = nil,
        _ body: @escaping @Sendable (Gate) async -> Void
    ) async {
        let waits = order == .opening ? leafWaits : reversed(leafWaits)
        let waiting = reversed(waits)
        let selected = selected(node, waits)
        await withTaskGroup(of: Int.self) { group in
            var missing = nodes.indices.map { waits[$0]?.count { selected[$0] } ?? 0 }
            func start(_ leaf: Int) {
                guard let gate = nodes[leaf].gate, selected[leaf] else { return }
                group.addTask {
                    await body(gate)
                    return leaf
                }
            }
            for leaf in nodes.indices where missing[leaf] == 0 { start(leaf) }
            while let done = await group.next() {
                for leaf in waiting[done] ?? [] {
                    missing[leaf] -= 1
                    if missing[leaf] == 0 { start(leaf) }
                }
            }
        }
    }

    /// Which leaves belong to a node, or are dependencies of it, directly or transitively; all for nil.
    private func selected(_ node: Node?, _ waits: [Int: [Int]]) -> [Bool] {
        var selected = Array(repeating: node == nil, count: nodes.count)
        var pending = node?.leaves.map(\.index) ?? []
        while let leaf = pending.popLast() {
            guard !selected[leaf] else { continue }
            selected[leaf] = true
            pending += waits[leaf] ?? []
        }
        return selected
    }

    /// The direction of ``forEachGate(_:_:)``.
    enum Order {
        /// Dependencies first.
        case opening
        /// Dependents first.
        case closing
    }

    /// For each waiting leaf, the leaves it waits for, because of its own dependencies or those of a composite above
    /// it.
    private var leafWaits: [Int: [Int]] {
        guard !waits.isEmpty else { return [:] }
        var result: [Int: [Int]] = [:]
        func walk(_ node: Node, inherited: [Int]) {
            let targets = inherited + (waits[node.index] ?? [])
            if node.gate != nil, !targets.isEmpty {
                result[node.index] = Array(Set(targets.flatMap { nodes[$0].leaves.map(\.index) })).sorted()
            }
            for child in node.children { walk(child, inherited: targets) }
        }
        for root in roots { walk(root, inherited: []) }
        return result
    }

    private func reversed(_ waits: [Int: [Int]]) -> [Int: [Int]] {
        var result: [Int: [Int]] = [:]
        for waiting in waits.keys.sorted() {
            for target in waits[waiting] ?? [] { result[target, default: []].append(waiting) }
        }
        return result
    }
}
