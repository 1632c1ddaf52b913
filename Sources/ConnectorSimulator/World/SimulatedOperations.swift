// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
package import ConnectorPlatform
internal import Synchronization

/// Answers the calls of one simulated interface, and keeps its records between calls.
package final class SimulatedOperations: Sendable {
    private struct State {
        /// The file's answers.
        var answers: AnswerSequence
        var records = SimulatedRecords()
        /// The answers that the timeline now puts first, by the entry's number; the newest is last, and takes precedence.
        var overlays: [(number: Int, answers: AnswerSequence)] = []
        /// The failures that the timeline now imposes, by the entry's number; the newest is last, and is the one that counts.
        var outages: [(number: Int, error: ConnectorError)] = []
    }

    private let clock: any HostClock
    /// The name of the file that has the answers.
    private let file: String
    private let state: Mutex<State>

    /// Creates an interface without records.
    ///
    /// - Parameter world: The answers, labeled by the manifest of the plugin that they replace.
    package init(_ world: SimulatedWorld, clock: any HostClock) {
        self.clock = clock
        file = world.file
        state = Mutex(State(answers: AnswerSequence(world.operations ?? [])))
    }

    /// The stand-in for the plugin's code.
    ///
    /// - Parameter source: Where the answers come from, for the gate's evidence.
    package func standIn(source: String) -> StandIn {
        StandIn(
            clock: clock,
            proof: { [self] in outage.map { .failure($0) } ?? .success("simulated by \(source)") },
            answer: { [self] label, arguments in answer(label, arguments) }
        )
    }

    /// The failure that the timeline now imposes; nil if there is none.
    private var outage: ConnectorError? { state.withLock { $0.outages.last?.error } }

    /// Answers a call with the first answer that matches it and is not used up.
    ///
    /// - Parameter label: The label of the operation in its manifest.
    package func answer(_ label: String, _ arguments: JSONObject) -> StandIn.Answer {
        let time = JSONValue.string(clock.wallTime().description)
        let values: JSONTemplate.Values = ["args": .object(arguments), "time": time]
        return state.withLock { state in
            if let outage = state.outages.last { return StandIn.Answer(.failure(outage.error)) }
            do throws(ConnectorError) {
                for index in state.overlays.indices.reversed() {
                    let answer = try state.overlays[index].answers.answer(label, arguments, values, &state.records)
                    if let answer { return answer }
                }
                return try state.answers.answer(label, arguments, values, &state.records)
                    ?? StandIn.Answer(.failure(unanswered(label, arguments)))
            } catch {
                return StandIn.Answer(.failure(error))
            }
        }
    }

    /// The error of a call that no answer matches, with the remedy in its message, because the C ABI carries no other text.
    private func unanswered(_ label: String, _ arguments: JSONObject) -> ConnectorError {
        let given = JSONValue.object(arguments).serialized().excerpt
        return ConnectorError(
            .unsupported,
            "\(file) has no answer for \(label) with \(given); add one to its \"operations\""
        )
    }

    // MARK: The timeline

    /// Makes every call and every proof fail until the entry ends.
    func begin(_ error: ConnectorError, number: Int) {
        state.withLock { state in
            state.outages.removeAll { $0.number == number }
            state.outages.append((number, error))
        }
    }

    /// Puts answers before all others until the entry ends.
    func begin(_ answers: [OperationAnswer], number: Int) {
        state.withLock { state in
            state.overlays.removeAll { $0.number == number }
            state.overlays.append((number, AnswerSequence(answers)))
        }
    }

    /// Ends what an entry of the timeline began.
    func end(_ number: Int) {
        state.withLock { state in
            state.outages.removeAll { $0.number == number }
            state.overlays.removeAll { $0.number == number }
        }
    }

    /// Keeps a record.
    ///
    /// - Throws: `too-large`.
    func keep(_ kept: OperationAnswer.Kept, _ values: JSONTemplate.Values) throws(ConnectorError) {
        try state.withLock { state throws(ConnectorError) in _ = try state.records.keep(kept, values) }
    }

    /// Removes a record, if it exists.
    func remove(_ record: OperationAnswer.RecordReference, _ values: JSONTemplate.Values) throws(ConnectorError) {
        let (collection, key) = try record.filled(values)
        state.withLock { $0.records.remove(collection, key) }
    }
}
