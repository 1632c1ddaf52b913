// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost
package import ConnectorManifest

/// What changed in a host's reports while somebody looked on: bounded, however long that is.
package struct HostHistory: Sendable {
    /// The changes of states, oldest first.
    package private(set) var transitions: [Transition] = []
    private var states: [String: (state: GateState, since: Timestamp?)] = [:]

    /// The most changes that are kept.
    package static let transitionLimit = 200

    /// A change of one connector's state.
    package struct Transition: Sendable, Hashable {
        /// When it was seen.
        package var time: Timestamp
        /// The connector.
        package var path: String
        /// The state from then on.
        package var state: GateState
        /// Why, in a sentence.
        package var reason: String?
    }

    /// Nothing seen yet.
    package init() {}

    /// Since when a connector has its state; nil if it had it when the looking began.
    package func since(_ path: String) -> Timestamp? { states[path]?.since }

    /// Takes note of a report.
    package mutating func note(_ report: Report, at time: Timestamp) {
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
    /// The proof in a few words.
    var summary: String { detail.isEmpty ? kind.rawValue : "\(kind.rawValue): \(detail)" }
}
