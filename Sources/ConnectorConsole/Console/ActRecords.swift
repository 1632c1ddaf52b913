// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The acts of a console that are pending or have failed.
struct ActRecords: Sendable {
    private var running: [String: Int] = [:]
    private var failures: [(id: String, state: ViewState)] = []

    /// The maximum number of failures kept.
    static let limit = 64

    /// The states of the acts, by act id.
    var states: [String: ViewState] {
        var states = Dictionary(failures.map { ($0.id, $0.state) }) { $1 }
        for id in running.keys { states[id] = .pending() }
        return states
    }

    /// Records that an act begins, and forgets its last failure.
    ///
    /// - Returns: Whether it may begin; false if it is an act of the application that is still running.
    mutating func begin(_ act: ConsoleAct) -> Bool {
        guard !act.isOfApplication || running[act.id] == nil else { return false }
        running[act.id, default: 0] += 1
        failures.removeAll { $0.id == act.id }
        return true
    }

    /// Records the outcome of an act.
    mutating func end(_ act: ConsoleAct, _ outcome: ActOutcome) {
        let count = (running[act.id] ?? 1) - 1
        running[act.id] = count > 0 ? count : nil
        guard outcome.isFailure else { return }
        failures.append((act.id, .failed(outcome.sentence)))
        if failures.count > Self.limit { failures.removeFirst() }
    }
}
