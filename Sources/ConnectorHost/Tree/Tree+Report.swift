// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConfiguration

extension Tree {
    /// The current report, with additions to each connector's part; reads each gate once.
    ///
    /// - Parameter adding: Adds to a connector's report before its composite's report is derived from it.
    func report(_ adding: (inout GateReport) -> Void) -> Report {
        var reports = nodes.map { $0.gate?.report ?? $0.closedReport }
        for node in reportOrder.map({ nodes[$0] }) {
            node.complete(&reports)
            if let error = failureOfUses(of: node, reports) { reports[node.index].degrade(error) }
            adding(&reports[node.index])
        }
        return Report(
            gates: reports,
            state: CompositePolicy.all(quorum: nil).state(of: Node.childStates(of: roots, requiredRoots, reports))
        )
    }
}

extension Tree {
    /// Why an open gate is degraded: its plugin needs a connector that is not open.
    ///
    /// Like a composite's state, this follows from other reports, so the gate recovers when the connector that it uses
    /// does.
    private func failureOfUses(of node: Node, _ reports: [GateReport]) -> ConnectorError? {
        guard reports[node.index].state == .open, let uses = node.gate?.plan.uses else { return nil }
        for bound in uses.sorted(by: { $0.use.name < $1.use.name }) where !bound.use.isOptional {
            let path = bound.connector
            guard let used = self[path].map({ reports[$0.index] }), !used.state.isUsable else { continue }
            let what = used.state == .failed ? "has failed" : "is \(used.state.rawValue)"
            return ConnectorError(
                .notOpen,
                "uses \(path) as \"\(bound.use.name)\", which \(what)",
                connector: node.path,
                cause: used.error?.asCause,
                isRetryable: true
            )
        }
        return nil
    }
}

extension GateReport {
    fileprivate mutating func degrade(_ error: ConnectorError) {
        (state, isReady) = (.degraded, false)
        self.error = error
    }
}

extension Node {
    /// The report of a composite before its children are counted.
    fileprivate var closedReport: GateReport {
        GateReport(
            path: path,
            state: .closed,
            target: .closed,
            policy: policy?.description,
            quorum: policy?.quorum,
            evidence: [],
            attempts: 0,
            capabilities: [:],
            misbehaviourCount: 0,
            differences: policy?.comparesAnswers ?? false ? comparison.differences : nil,
            canary: canary?.report(children)
        )
    }

    /// Completes a node's report; a composite's follows from its children.
    fileprivate func complete(_ reports: inout [GateReport]) {
        reports[index].isRequired = isRequired
        reports[index].places = places
        reports[index].calls = tally.counters
        guard let policy else {
            reports[index].isReady = reports[index].state == .open
            return
        }
        let below = children.map { reports[$0.index] }
        reports[index].state = policy.state(of: Self.childStates(of: children, requiredChildren, reports))
        reports[index].isReady = policy.isSatisfied(
            by: children.map { (reports[$0.index].isReady, requires($0)) }
        )
        if below.contains(where: { $0.target == .open }) { reports[index].target = .open }
        reports[index].isSimulated = below.contains(where: \.isSimulated)
        reports[index].openDuration = below.compactMap(\.openDuration).max()
    }

    /// The states of nodes, as input to the composite above them.
    fileprivate static func childStates(
        of nodes: [Node],
        _ required: Set<Int>,
        _ reports: [GateReport]
    ) -> [CompositePolicy.ChildState] {
        nodes.map { (reports[$0.index].state, required.contains($0.index)) }
    }
}

extension CompositePolicy {
    /// A child's state, and whether the composite requires it.
    typealias ChildState = (state: GateState, isRequired: Bool)

    /// The state of a composite with these children.
    ///
    /// While enough children are usable (``isSatisfied(by:)``), so is the composite, even if another child keeps
    /// alternating between failed and opening.
    func state(of children: [ChildState]) -> GateState {
        if children.allSatisfy({ $0.state == .closed }) { return .closed }
        if children.allSatisfy({ $0.state == .open }) { return .open }
        if children.contains(where: { $0.state == .closing }) { return .closing }
        if isSatisfied(by: children.map { ($0.state.isUsable, $0.isRequired) }) { return .degraded }
        if children.contains(where: { $0.state == .opening }) { return .opening }
        // A closed child has not started to open, or has closed before the others.
        let isPossible = isSatisfied(by: children.map { ($0.state != .failed, $0.isRequired) })
        return isPossible && children.contains(where: \.state.isUsable) ? .degraded : .failed
    }
}
