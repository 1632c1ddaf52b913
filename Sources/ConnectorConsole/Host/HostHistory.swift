// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorHost

/// The most recent changes of state in a host's reports.
package struct HostHistory: Sendable {
    /// The changes of state, oldest first.
    package private(set) var transitions: [Transition] = []
    private var states: [String: (state: GateState, since: Timestamp?)] = [:]

    /// The maximum number of changes kept.
    package static let transitionLimit = 200

    /// A change of one connector's state.
    package struct Transition: Sendable, Hashable {
        /// When it was observed.
        package var time: Timestamp
        /// The connector.
        package var path: String
        /// The new state.
        package var state: GateState
        /// The proof if the connector opened, otherwise the error; nil if unknown.
        package var reason: String?
    }

    /// Creates an empty history.
    package init() {}

    /// When a connector entered its current state; nil if it has not changed since recording began.
    package func since(_ path: String) -> Timestamp? { states[path]?.since }

    /// Records the changes since the last report, and forgets when connectors changed that a reload has removed.
    package mutating func note(_ report: Report, at time: Timestamp) {
        let paths = Set(report.gates.map(\.path))
        for path in states.keys where !paths.contains(path) { states[path] = nil }
        for gate in report.gates {
            guard let known = states[gate.path] else {
                states[gate.path] = (gate.state, nil)
                continue
            }
            guard known.state != gate.state else { continue }
            states[gate.path] = (gate.state, time)
            let transition = Transition(
                time: time,
                path: gate.path,
                state: gate.state,
                reason: gate.state == .open ? gate.strongestEvidence?.summary : gate.error?.message
            )
            if transitions.count == Self.transitionLimit { transitions.removeFirst() }
            transitions.append(transition)
        }
    }
}

extension Evidence {
    /// A short description of the proof.
    var summary: String { detail.isEmpty ? kind.rawValue : "\(kind.rawValue): \(detail)" }
}
