// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

extension Tree {
    /// How everything stands now; each gate is asked once.
    var report: Report {
        var reports = nodes.map { $0.gate?.report ?? compositeReport($0, .closed, []) }
        func standings(_ children: [Node]) -> [CompositePolicy.Standing] {
            children.map { (reports[$0.index].state, $0.isRequiredByParent) }
        }
        // Children stand behind their parents, so going backwards every composite finds its children's reports.
        for node in nodes.reversed() where node.gate == nil {
            let state = node.policy?.state(of: standings(node.children)) ?? .closed
            reports[node.index] = compositeReport(node, state, node.children.map { reports[$0.index] })
        }
        return Report(
            gates: reports,
            state: CompositePolicy.all(quorum: nil).state(of: standings(roots))
        )
    }

    private func compositeReport(_ node: Node, _ state: GateState, _ children: [GateReport]) -> GateReport {
        GateReport(
            path: node.path,
            state: state,
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
    /// How a child stands, and whether the composite has failed if it has.
    typealias Standing = (state: GateState, isRequired: Bool)

    /// How a composite stands, given how its children do.
    ///
    /// Where one child can stand in for another (`first`, `fastest`) one usable child keeps the composite from failing; with a
    /// quorum, that many; everywhere else a required child that failed fails the whole.
    func state(of children: [Standing]) -> GateState {
        if children.allSatisfy({ $0.state == .closed }) { return .closed }
        if children.allSatisfy({ $0.state == .open }) { return .open }
        for state in [GateState.closing, .opening] where children.contains(where: { $0.state == state }) {
            return state
        }
        let usable = children.count { $0.state.isUsable }
        // One that is closed has not had its turn to open yet, or has closed before the others.
        let possible = children.count { $0.state != .failed }
        let isEnough =
            switch self {
            case .first, .fastest: usable > 0
            case .all(let quorum?): usable > 0 && possible >= quorum
            case .all(nil), .sequence, .compare:
                usable > 0 && !children.contains { $0.isRequired && $0.state == .failed }
            }
        return isEnough ? .degraded : .failed
    }
}
