// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorHost
package import ConnectorManifest

/// What changed in a host's reports while somebody looked on: bounded, however long that is.
package struct HostHistory: Sendable {
    /// The changes of states, oldest first.
    package private(set) var transitions: [Transition] = []
    /// The numbers of the last seconds, by path.
    package private(set) var samples: [String: Samples] = [:]
    private var states: [String: (state: GateState, since: Timestamp?)] = [:]

    /// The most changes that are kept.
    package static let transitionLimit = 200
    /// The most seconds that are kept.
    package static let sampleLimit = 120

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

    /// The numbers of one connector in the last seconds, oldest first.
    package struct Samples: Sendable, Hashable {
        /// How many calls began in each second.
        package private(set) var calls: [UInt32] = []
        /// How many calls failed in each second.
        package private(set) var failures: [UInt32] = []
        /// How many events waited at the end of each second.
        package private(set) var waiting: [UInt32] = []
        private var total: UInt64 = 0
        private var failed: UInt64 = 0

        fileprivate mutating func add(_ gate: GateReport) {
            let (total, failed) = (gate.calls?.total ?? 0, gate.calls?.failures ?? 0)
            Self.add(UInt32(clamping: total.subtractingReportingOverflow(self.total).partialValue), to: &calls)
            Self.add(UInt32(clamping: failed.subtractingReportingOverflow(self.failed).partialValue), to: &failures)
            Self.add(UInt32(clamping: gate.outbox?.queued ?? 0), to: &waiting)
            (self.total, self.failed) = (total, failed)
        }

        private static func add(_ number: UInt32, to numbers: inout [UInt32]) {
            if numbers.count == sampleLimit { numbers.removeFirst() }
            numbers.append(number)
        }
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

    /// Takes the numbers of a second.
    package mutating func sample(_ report: Report) {
        // Without calls and events there is nothing to draw.
        for gate in report.gates where gate.calls != nil || gate.outbox != nil || samples[gate.path] != nil {
            samples[gate.path, default: Samples()].add(gate)
        }
    }
}

extension Evidence {
    /// The proof in a few words.
    var summary: String { detail.isEmpty ? kind.rawValue : "\(kind.rawValue): \(detail)" }
}
