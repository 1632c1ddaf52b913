// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension Tree {
    /// How everything stands now; each gate is asked once.
    var report: Report {
        var reports: [GateReport?] = nodes.map { $0.gate?.report }
        // Children stand behind their parents, so going backwards every composite finds its children's reports.
        for index in nodes.indices.reversed() where reports[index] == nil {
            let children = nodes[index].children.compactMap { reports[$0] }
            reports[index] = compositeReport(nodes[index], children)
        }
        let roots = roots.compactMap { reports[$0] }
        return Report(gates: reports.compactMap(\.self), state: CompositePolicy.all(quorum: nil).state(of: roots))
    }

    private func compositeReport(_ node: Node, _ children: [GateReport]) -> GateReport {
        GateReport(
            path: node.path,
            state: node.policy?.state(of: children) ?? .closed,
            target: children.contains { $0.target == .open } ? .open : .closed,
            isRequired: node.isRequired,
            policy: node.policy?.description,
            plugin: nil,
            evidence: [],
            openDuration: children.compactMap(\.openDuration).max(),
            attempts: 0,
            error: nil,
            capabilities: [:],
            http: nil,
            misbehaviourCount: 0,
            differences: node.policy == .compare ? node.comparison.differences : nil
        )
    }
}

extension CompositePolicy {
    /// How a composite stands, given how its children do.
    ///
    /// Where one child can stand in for another (`first`, `fastest`) one usable child keeps the composite from failing; with a
    /// quorum, that many; everywhere else a required child that failed fails the whole.
    func state(of children: [GateReport]) -> GateState {
        if children.allSatisfy({ $0.state == .open }) { return .open }
        for state in [GateState.closing, .opening] where children.contains(where: { $0.state == state }) {
            return state
        }
        if children.allSatisfy({ $0.state == .closed }) { return .closed }
        let usable = children.count { $0.state.isUsable }
        let isEnough =
            switch self {
            case .first, .fastest: usable > 0
            case .all(let quorum?): usable >= quorum
            case .all(nil), .sequence, .compare:
                usable > 0 && !children.contains { $0.isRequired && !$0.state.isUsable }
            }
        return isEnough ? .degraded : .failed
    }
}
