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
    /// The indices of the roots that are required.
    let requiredRoots: Set<Int>
    /// The index of each path; a leaf in several places has several paths.
    private let indices: [String: Int]
    /// For each waiting node, the nodes that must open first.
    private let waits: [Int: [Int]]
    /// The nodes ordered so that each follows its children and the connectors that its plugin uses.
    let reportOrder: [Int]
    /// Whether any plugin uses a gate.
    private let hasUses: Bool

    /// Builds the tree of a configuration.
    ///
    /// - Parameters:
    ///   - previous: Earlier snapshots, the latest first, whose counters carry on, except between a vendor and its simulation.
    ///   - metering: The clock and the metrics system.
    ///   - logger: Logs calls that fail below a composite.
    ///   - onChange: Called after a logged failure or a comparison of answers.
    ///   - plan: Returns the plan of a leaf in this snapshot; by default, the one that its gate has.
    ///   - makeGate: Creates or finds the gate of a leaf.
    init(
        _ connectors: [Connector],
        after previous: [Tree] = [],
        metering: Metering,
        logger: Logger,
        onChange: @escaping @Sendable () -> Void = {},
        plan makePlan: (Connector, Gate) -> GatePlan = { $1.plan },
        makeGate: (Connector) -> Gate
    ) {
        var outline = Outline()
        outline.add(connectors, under: nil, isRequired: true)
        outline.addPlaces()
        indices = outline.indices
        var nodes = [Node?](repeating: nil, count: outline.connectors.count)
        // Children must exist before their parents. Leaves come first, because one with several places may precede a
        // parent in the file; then composites from last to first.
        let order =
            outline.connectors.indices.filter { outline.connectors[$0].policy == nil }
            + outline.connectors.indices.filter { outline.connectors[$0].policy != nil }.reversed()
        for index in order {
            let connector = outline.connectors[index]
            // Not a leaf that had a further place there.
            let counted = previous.compactMap { $0[connector.path] }.filter { $0.path == connector.path }
            let (indices, required) = outline.children(connector.children, of: connector.policy)
            let children = indices.compactMap { nodes[$0] }
            let gate = connector.policy == nil ? makeGate(connector) : nil
            let plan = gate.map { makePlan(connector, $0) }
            let isSimulated = plan?.isSimulated ?? children.contains(where: \.isSimulated)
            nodes[index] = Node(
                path: connector.path,
                index: index,
                isRequired: outline.isRequired[index],
                policy: connector.policy,
                children: children,
                requiredChildren: required,
                places: outline.places[index] ?? [],
                gate: gate,
                plan: plan,
                delivery: connector.delivery,
                comparison: counted.first?.comparison ?? Comparison(onChange: onChange),
                canary: connector.policy?.canary.map { policy in
                    counted.lazy.compactMap { Canary.continuing($0, policy, on: children) }.first
                        ?? Canary(policy, of: connector.path, logger: logger, onChange: onChange)
                },
                tally: counted.first { $0.tally.isSimulated == isSimulated }?.tally
                    ?? CallTally(
                        connector.path,
                        metering,
                        isSimulated: isSimulated,
                        logger: logger,
                        onChange: onChange
                    )
            )
        }
        self.nodes = nodes.compactMap(\.self)
        let (roots, requiredRoots) = outline.children(connectors, of: nil)
        self.roots = roots.compactMap { nodes[$0] }
        self.requiredRoots = requiredRoots
        waits = Self.waits(connectors, indices, self.nodes)
        reportOrder = Self.reportOrder(self.nodes, indices)
        hasUses = self.nodes.contains { $0.plan?.uses.isEmpty == false }
    }

    /// Which connectors wait for which: because of `after`, because a plugin uses a gate, or because a policy opens its
    /// children in order.
    private static func waits(_ connectors: [Connector], _ indices: [String: Int], _ nodes: [Node]) -> [Int: [Int]] {
        var waits: [Int: [Int]] = [:]
        for connector in connectors.selvesAndDescendants {
            guard let index = indices[connector.path] else { continue }
            let uses = connector.same == nil ? nodes[index].plan?.uses ?? [] : []
            let targets = (connector.after + uses.map(\.connector)).compactMap { indices[$0] }
            if !targets.isEmpty { waits[index, default: []] += targets }
            guard connector.policy?.opensInOrder == true else { continue }
            let children = connector.children.compactMap { child in
                indices[child.path].map { (index: $0, isOwn: child.same == nil) }
            }
            // A leaf waits for its predecessor only at its own place.
            for (child, previous) in zip(children.dropFirst(), children) where child.isOwn {
                waits[child.index, default: []].append(previous.index)
            }
        }
        return waits
    }

    private static func reportOrder(_ nodes: [Node], _ indices: [String: Int]) -> [Int] {
        var order: [Int] = []
        var isSeen = Array(repeating: false, count: nodes.count)
        for root in nodes.indices where !isSeen[root] {
            // On an explicit stack, because a chain of uses may be as long as the file.
            var stack = [(node: root, next: 0)]
            isSeen[root] = true
            while let (node, next) = stack.last {
                let children = nodes[node].children
                let uses = nodes[node].plan?.uses ?? []
                guard next < children.count + uses.count else {
                    order.append(node)
                    stack.removeLast()
                    continue
                }
                stack[stack.count - 1].next += 1
                let below =
                    next < children.count ? children[next].index : indices[uses[next - children.count].connector]
                if let below, !isSeen[below] {
                    isSeen[below] = true
                    stack.append((below, 0))
                }
            }
        }
        return order
    }

    /// The node of a path.
    subscript(path: String) -> Node? { indices[path].map { nodes[$0] } }

    /// The node of a path.
    ///
    /// - Throws: `unknown-connector` if no connector has the path.
    func node(_ path: String) throws(ConnectorError) -> Node {
        if let node = self[path] { return node }
        throw ConnectorError(
            .unknownConnector,
            "there is no enabled connector \"\(path.excerpt)\"",
            fix: suggestion(for: path, among: nodes.map(\.path))
        )
    }

    /// A path, and those of the leaves at and below it, whose own places may be elsewhere.
    func paths(below path: String) -> Set<String> { Set((self[path]?.leaves ?? []).map(\.path) + [path]) }

    /// The gates whose plugins use a gate, directly or as part of a composite.
    func users(of path: String) -> [Gate] {
        guard hasUses, let used = self[path] else { return [] }
        return nodes.filter { node in
            node.plan?.uses.contains { use in
                self[use.connector]?.leaves.contains { $0.index == used.index } ?? false
            } ?? false
        }.compactMap(\.gate)
    }

    /// Every gate, in the order of the file.
    var gates: [Gate] { nodes.compactMap(\.gate) }

    // MARK: Order

    /// The gates that ``forEachGate(_:of:where:_:)`` opens for a node: its own, and those they wait for; all for nil.
    func gatesToOpen(for node: Node?) -> [Gate] {
        let selected = selected(node, leafWaits)
        return nodes.filter { selected[$0.index] }.compactMap(\.gate)
    }

    /// Runs a function for all gates concurrently, except that each gate waits for its dependencies.
    ///
    /// The whole takes as long as the longest chain of dependencies.
    ///
    /// - Parameters:
    ///   - node: Limits the work to this node's gates and those they wait for; nil for all.
    ///   - isIncluded: Whether the function runs for a gate. Other gates take no time, and the order of the rest is
    ///     kept.
    func forEachGate(
        _ order: Order,
        of node: Node? = nil,
        where isIncluded: (Gate) -> Bool = { _ in true },
        _ body: @escaping @Sendable (Gate) async -> Void
    ) async {
        let waits = order == .opening ? leafWaits : reversed(leafWaits)
        let waiting = reversed(waits)
        let selected = selected(node, waits)
        await withTaskGroup(of: Int.self) { group in
            var missing = nodes.indices.map { waits[$0]?.count { selected[$0] } ?? 0 }
            var ready = nodes.indices.filter { missing[$0] == 0 }
            func finish(_ leaf: Int) {
                for next in waiting[leaf] ?? [] {
                    missing[next] -= 1
                    if missing[next] == 0 { ready.append(next) }
                }
            }
            func start() {
                while let leaf = ready.popLast() {
                    guard let gate = nodes[leaf].gate, selected[leaf] else { continue }
                    guard isIncluded(gate) else {
                        finish(leaf)
                        continue
                    }
                    group.addTask {
                        await body(gate)
                        return leaf
                    }
                }
            }
            ready.reverse()
            start()
            while let done = await group.next() {
                finish(done)
                start()
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

    /// The direction of ``forEachGate(_:of:where:_:)``.
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
            for child in node.children where child.path.hasPrefix(node.path + "/") { walk(child, inherited: targets) }
        }
        for root in roots where !root.path.contains("/") { walk(root, inherited: []) }
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
