// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
internal import ConnectorManifest

/// What one reload does to each leaf, derived from the plan and from the state of the gates when the work begins.
struct ReloadWork: Sendable {
    let plan: Plan
    let next: NextConfiguration
    /// The tree that runs.
    let before: Tree
    /// The leaves of the new tree, in the order of the file.
    let leaves: [Leaf]
    /// The gates that are no longer in the tree.
    let removed: [Gate]
    /// The old path of each connector that moves, by its new path.
    let moves: [String: String]
    /// The new tree, if every successor opens.
    let tree: Tree

    /// One leaf of the new tree.
    struct Leaf: Sendable {
        let gate: Gate
        let plan: GatePlan
        let step: Step
        /// The gate that the connector moves from, if that was usable: it stays as it is unless this one opens.
        var origin: Gate?
        /// Whether that gate closes before this one opens, because the plugin is exclusive.
        var stopsOrigin = false
    }

    /// What happens to the gate of a leaf.
    enum Step: Sendable {
        /// Nothing.
        case keep
        /// The gate adopts new settings without opening anything: they need no new instance, or the gate is closed.
        case adopt
        /// The gate, which is not open, adopts new settings and opens with them after the switch.
        case reopen
        /// A successor opens beside the instance.
        case succeed
        /// The instance closes before its successor opens.
        case stopFirst
        /// The gate is new.
        case add
    }

    /// Decides what happens to each leaf.
    init(_ plan: Plan, _ next: NextConfiguration, _ dependencies: Reloader.Dependencies) {
        (self.plan, self.next) = (plan, next)
        before = dependencies.current.tree
        var leaves: [Leaf] = []
        let changes = Dictionary(plan.changes.filter { $0.kind != .removed }.map { ($0.path, $0) }) { first, _ in first
        }
        for connector in next.resolved.configuration.enabledConnectors where connector.isOwnLeaf {
            guard let gatePlan = next.plans[connector.path] else { continue }
            let node = before[connector.path]
            let known = node?.path == connector.path ? node?.gate : nil
            let change = changes[connector.path]
            let isNew = known == nil || change?.kind == .added || change?.kind == .moved
            let gate = isNew ? Gate(gatePlan, dependencies: dependencies.gates) : known
            guard let gate else { continue }
            var leaf = Leaf(gate: gate, plan: gatePlan, step: isNew ? .add : Self.step(change, gate))
            if let was = change?.was, let origin = before[was]?.gate, origin.target == .open, origin.state.isUsable {
                (leaf.origin, leaf.stopsOrigin) = (origin, change?.cost == .stopsFirst)
            }
            leaves.append(leaf)
        }
        let staying = Set(leaves.map { ObjectIdentifier($0.gate) })
        removed = before.gates.filter { !staying.contains(ObjectIdentifier($0)) }
        moves = plan.changes.reduce(into: [:]) { moves, change in
            if let was = change.was { moves[change.path] = was }
        }
        self.leaves = leaves
        tree = Self.tree(next, leaves, after: [before], dependencies)
    }

    private static func step(_ change: Plan.Change?, _ gate: Gate) -> Step {
        guard let change else { return .keep }
        // A closed gate whose target is open opens in its turn, with the settings that it then has.
        guard change.cost != .nothing, gate.target == .open, gate.state != .closed else { return .adopt }
        guard gate.state.isUsable else { return .reopen }
        return change.cost == .stopsFirst ? .stopFirst : .succeed
    }

    /// Makes the new tree.
    private static func tree(
        _ next: NextConfiguration,
        _ leaves: [Leaf],
        after previous: [Tree],
        _ dependencies: Reloader.Dependencies
    ) -> Tree {
        let known = Dictionary(leaves.map { ($0.plan.path, $0) }) { first, _ in first }
        let onChange = dependencies.onChange
        return Tree(
            next.resolved.configuration.connectors,
            after: previous,
            metering: dependencies.metering,
            logger: dependencies.gates.logger,
            onChange: onChange,
            plan: { connector, gate in known[connector.path]?.plan ?? gate.plan },
            makeGate: { connector in
                // Every enabled leaf is in `known`.
                known[connector.path]?.gate ?? Gate(.missing(connector), dependencies: dependencies.gates)
            }
        )
    }

    /// The tree in which some leaves keep their earlier plans. Calls that were counted while gates opened stay counted.
    func tree(keeping paths: Set<String>, _ dependencies: Reloader.Dependencies) -> Tree {
        guard !paths.isEmpty else { return tree }
        let leaves = leaves.map { leaf in
            paths.contains(leaf.plan.path) ? Leaf(gate: leaf.gate, plan: leaf.gate.plan, step: .keep) : leaf
        }
        return Self.tree(next, leaves, after: [tree, before], dependencies)
    }

    /// The leaves whose gates open before the switch.
    var opening: [Leaf] {
        leaves.filter { leaf in
            switch leaf.step {
            case .succeed, .stopFirst, .add: true
            case .keep, .adopt, .reopen: false
            }
        }
    }

    /// Whether a changed leaf needs another instance than the one that runs, if one does.
    func needsInstance(_ leaf: Leaf) -> Bool { plan[leaf.plan.path]?.cost != .nothing }

    /// Whether a failure of this leaf ends the reload. What moves from a gate that works can stay as it was in no other
    /// way.
    func isDecisive(_ leaf: Leaf) -> Bool {
        if leaf.origin != nil { return true }
        return next.resolved.configuration.reloadMode == .atomic && tree[leaf.plan.path]?.isRequired ?? true
    }

    /// Whether a new gate opens: not if it moved from a gate that was closed by hand, or if all gates below its parent
    /// were.
    func opens(_ leaf: Leaf) -> Bool {
        if let was = moves[leaf.plan.path], let gate = before[was]?.gate { return gate.target == .open }
        guard let slash = leaf.plan.path.lastIndex(of: "/"),
            let siblings = before[String(leaf.plan.path[..<slash])]?.leaves.compactMap(\.gate), !siblings.isEmpty
        else { return true }
        return siblings.contains { $0.target == .open }
    }

    /// Gives every kept gate the plan that was just read, so that nothing of the earlier configuration stays in memory.
    func refreshKept() {
        for leaf in leaves where leaf.step == .keep { leaf.gate.refresh(leaf.plan) }
    }
}
