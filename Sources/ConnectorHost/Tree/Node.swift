// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// One connector in one snapshot of the tree, with everything below it: what a call needs, so that it finishes on the snapshot
/// where it began.
final class Node: Sendable {
    /// Its place, such as `analytics/segment`.
    let path: String
    /// Where it stands among ``Tree/nodes``.
    let index: Int
    /// Whether it and everything above it is required.
    let isRequired: Bool
    /// Whether the composite above it, or the whole, fails if this one does.
    let isRequiredByParent: Bool
    /// How it treats its children; nil for a leaf.
    let policy: CompositePolicy?
    /// The nodes one level below, in the order of the file.
    let children: [Node]
    /// The connection of a leaf; nil for a composite.
    let gate: Gate?
    /// What differs among the answers of a composite of the policy `compare`.
    let comparison: Comparison
    /// How many calls went to it, and how many failed.
    let tally: CallTally

    /// Takes everything as it is.
    init(
        path: String,
        index: Int,
        isRequired: Bool,
        isRequiredByParent: Bool,
        policy: CompositePolicy?,
        children: [Node],
        gate: Gate?,
        comparison: Comparison,
        tally: CallTally
    ) {
        self.path = path
        self.index = index
        self.isRequired = isRequired
        self.isRequiredByParent = isRequiredByParent
        self.policy = policy
        self.children = children
        self.gate = gate
        self.comparison = comparison
        self.tally = tally
    }
}

extension Node {
    /// Whether this connector, or one below it, is open.
    var isUsable: Bool { gate.map { $0.state.isUsable } ?? children.contains(where: \.isUsable) }

    /// What this connector, or anything below it, can do.
    var capabilities: [Capability] {
        guard let gate else { return children.flatMap(\.capabilities) }
        return gate.manifest?.capabilities ?? []
    }

    /// Whether this connector, or one below it, has an operation; nil if a plugin that could not be found might.
    func offers(_ operation: String) -> Bool? {
        guard let gate else {
            let answers = children.map { $0.offers(operation) }
            return answers.contains(true) ? true : answers.contains(nil) ? nil : false
        }
        return gate.manifest.map { $0.operation(named: operation) != nil }
    }

    /// What an operation takes at this leaf, or at the first one below that has it.
    func signature(of operation: String) -> Signature? {
        guard let gate else { return children.lazy.compactMap { $0.signature(of: operation) }.first }
        return gate.manifest?.operation(named: operation)?.operation.signature
    }

    /// This leaf, or all below.
    var leaves: [Node] { gate == nil ? children.flatMap(\.leaves) : [self] }
}
