// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
internal import ConnectorInvocation
internal import ConnectorLoading
internal import ConnectorManifest
internal import ConnectorOutbox

/// One connector in one snapshot of the tree, with everything below it. A call finishes on the snapshot it started on.
final class Node: Sendable {
    /// The path, such as `analytics/segment`.
    let path: String
    /// The index in ``Tree/nodes``.
    let index: Int
    /// Whether this connector and everything above it is required.
    let isRequired: Bool
    /// The policy of a composite; nil for a leaf.
    let policy: CompositePolicy?
    /// The children, each once, in the order of the file. A leaf may be the child of several composites.
    let children: [Node]
    /// The indices of the children that this composite requires.
    let requiredChildren: Set<Int>
    /// The leaf's further paths, in the order of the file.
    let places: [String]
    /// The capabilities, such as `analytics/2`, that a plugin at or below this connector offers in several versions. Nearly always
    /// empty, and kept here because every delivery asks.
    let versionedCapabilities: Set<String>
    /// The kinds of events that a plugin at or below this connector takes, in the words of its manifest. An event of another kind may fit
    /// them, too, as one of another version does. Kept here because every event asks.
    let declaredKinds: [EventKind]
    /// The leaves that several composites with the policy `all`, at and below this one, have in common.
    let commonLeaves: Set<Int>
    /// The connection of a leaf; nil for a composite.
    let gate: Gate?
    /// The plan of the leaf in this snapshot; nil for a composite.
    let plan: GatePlan?
    /// Admits prompt calls to the gate; nil for a composite, and for a recorded gate, whose calls take the path that records them. It
    /// is kept here so that calls need not count a reference to the gate, which is slow.
    let rundown: RundownGuard?
    /// Whether calls must ask the gate's circuit breaker; nil for a composite. It is kept here for the same reason.
    let watch: CallWatch?
    /// How the outbox delivers the connector's events; nil if calls reach the vendor directly.
    let delivery: DeliveryPolicy?
    /// Collects how the answers of a `compare` composite differ.
    let comparison: Comparison
    /// Divides the calls of a `canary` composite; nil for another policy.
    let canary: Canary?
    /// Counts calls and failures.
    let tally: CallTally

    /// Creates a node.
    init(
        path: String,
        index: Int,
        isRequired: Bool,
        policy: CompositePolicy?,
        children: [Node],
        requiredChildren: Set<Int>,
        places: [String],
        gate: Gate?,
        plan: GatePlan?,
        delivery: DeliveryPolicy?,
        comparison: Comparison,
        canary: Canary?,
        tally: CallTally
    ) {
        self.path = path
        self.index = index
        self.isRequired = isRequired
        self.policy = policy
        self.children = children
        self.requiredChildren = requiredChildren
        self.places = places
        versionedCapabilities =
            plan?.manifest?.capabilities.versioned
            ?? children.reduce(into: Set<String>()) { $0.formUnion($1.versionedCapabilities) }
        declaredKinds =
            plan?.manifest?.capabilities.eventKinds
            ?? children.reduce(into: []) { kinds, child in kinds += child.declaredKinds.filter { !kinds.contains($0) } }
        commonLeaves = policy.isAll ? children.commonLeaves : []
        (self.gate, watch) = (gate, gate?.breaker.watch)
        rundown = plan?.recording == nil ? gate?.rundown : nil
        self.plan = plan?.withoutRenewal
        self.delivery = delivery
        self.comparison = comparison
        self.canary = canary
        self.tally = tally
    }
}

extension Node {
    /// The manifest of the leaf's plugin; nil for a composite, and if no plugin was found.
    var manifest: Manifest? { plan?.manifest }

    /// Whether this connector, or a leaf below it, accepts calls.
    var isUsable: Bool { gate.map(\.isUsable) ?? children.contains(where: \.isUsable) }

    /// Whether this gate, or one below, is simulated.
    var isSimulated: Bool { plan?.isSimulated ?? children.contains(where: \.isSimulated) }

    /// The capabilities of this connector and everything below it, as callers see them.
    var capabilities: [Capability] {
        guard gate != nil else { return children.flatMap(\.capabilities) }
        return manifest?.callable ?? []
    }

    /// Whether this connector, or one below it, has an operation; nil if unknown because a plugin was not found.
    func offers(_ operation: String) -> Bool? {
        guard gate != nil else {
            let answers = children.map { $0.offers(operation) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        }
        return manifest.map { $0.operation(named: operation) != nil }
    }

    /// The signature of an operation for callers, at this leaf or at the first leaf below that has it.
    func signature(of operation: String) -> Signature? { definition(of: operation)?.operation.signature }

    /// This leaf, or every leaf below, each once.
    var leaves: [Node] { gate == nil ? children.flatMap(\.leaves).unique : [self] }

    /// This leaf, or the first one below, whose plugin was not found, so that it is unknown what it offers; nil if there is none.
    var leafWithoutPlugin: Node? { leaves.first { $0.manifest == nil } }

    /// Whether this composite requires a child.
    func requires(_ child: Node) -> Bool { requiredChildren.contains(child.index) }
}

extension [Capability] {
    /// The capabilities of which there are several versions.
    fileprivate var versioned: Set<String> {
        let counts = Dictionary(map { ($0.id.name, 1) }, uniquingKeysWith: +)
        return Set(map(\.id).filter { counts[$0.name, default: 0] > 1 }.map(\.description))
    }
}

extension [Capability] {
    /// The kinds of events that the operations take.
    fileprivate var eventKinds: [EventKind] {
        flatMap { capability in
            capability.operations.filter(\.isDelivered).map { EventKind(capability.id.description, $0.name) }
        }
    }
}

extension CompositePolicy? {
    /// Whether the policy is `all`, with a quorum or without.
    var isAll: Bool {
        if case .all? = self { true } else { false }
    }
}

extension [Node] {
    /// The leaves that occur more than once among these nodes and, through those with the policy `all`, the nodes below
    /// them.
    fileprivate var commonLeaves: Set<Int> {
        var (seen, common): (Set<Int>, Set<Int>) = ([], [])
        func walk(_ nodes: [Node]) {
            for node in nodes {
                if node.policy.isAll { walk(node.children) }
                // Only a leaf with further places can occur twice.
                guard !node.places.isEmpty, !seen.insert(node.index).inserted else { continue }
                common.insert(node.index)
            }
        }
        walk(self)
        return common
    }

    /// Each node once, at its first place.
    var unique: [Node] {
        // Only a leaf with further places can occur twice.
        guard contains(where: { !$0.places.isEmpty }) else { return self }
        var seen: Set<Int> = []
        return filter { seen.insert($0.index).inserted }
    }
}
