// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation
internal import ConnectorManifest
package import ConnectorPlatform
internal import Synchronization

/// Answers the calls of one simulated interface, and keeps its records between calls.
package final class SimulatedOperations: Sendable {
    private struct State {
        /// How often each answer was given.
        var counts: [Int]
        var records = SimulatedRecords()
        /// The failures of the timeline that last now, by number; the newest counts.
        var outages: [(number: Int, error: ConnectorError)] = []
        var lastOutage = 0
    }

    private let answers: [OperationAnswer]
    private let clock: any HostClock
    private let state: Mutex<State>

    /// Creates an interface without records.
    package init(_ world: SimulatedWorld, clock: any HostClock) {
        answers = world.operations
        self.clock = clock
        state = Mutex(State(counts: Array(repeating: 0, count: answers.count)))
    }

    /// What takes the place of the plugin's code.
    ///
    /// - Parameter source: What the answers come from, for the proof of the gate.
    package func standIn(source: String) -> StandIn {
        StandIn(
            clock: clock,
            proof: { [self] in outage.map { .failure($0) } ?? .success("simulated by \(source)") },
            answer: { [self] operation, arguments in answer(operation.name, arguments) }
        )
    }

    /// The failure that the timeline dictates now.
    private var outage: ConnectorError? { state.withLock { $0.outages.last?.error } }

    /// Answers a call: the first answer that matches it and is not used up.
    package func answer(_ operation: String, _ arguments: JSONObject) -> StandIn.Answer {
        let time = JSONValue.string(clock.wallTime().description)
        return state.withLock { state in
            if let outage = state.outages.last { return StandIn.Answer(.failure(outage.error)) }
            var values: JSONTemplate.Values = ["args": .object(arguments), "time": time]
            for (index, answer) in answers.enumerated() where answer.matches(operation, arguments) {
                guard state.counts[index] < answer.times ?? .max else { continue }
                values["count"] = .integer(Int64(state.counts[index]) + 1)
                values["record"] = nil
                guard answer.finds(in: state.records, &values) else { continue }
                state.counts[index] += 1
                return answer.given(&state.records, values)
            }
            return StandIn.Answer(.failure(Self.unanswered(operation, arguments)))
        }
    }

    private static func unanswered(_ operation: String, _ arguments: JSONObject) -> ConnectorError {
        ConnectorError(
            .unsupported,
            "no answer is written for \(operation) with \(JSONValue.object(arguments).serialized().excerpt)",
            fix: "add one to \"operations\" in the file of answers"
        )
    }

    // MARK: The timeline

    /// Makes every call and every proof fail.
    ///
    /// - Returns: The number to end it with.
    func begin(_ error: ConnectorError) -> Int {
        state.withLock { state in
            state.lastOutage += 1
            state.outages.append((state.lastOutage, error))
            return state.lastOutage
        }
    }

    /// Ends a failure.
    func end(_ number: Int) {
        state.withLock { state in state.outages.removeAll { $0.number == number } }
    }

    /// Keeps a record.
    func keep(_ kept: OperationAnswer.Kept, _ values: JSONTemplate.Values) {
        state.withLock { $0.records.keep(kept, values) }
    }

    /// Removes a record, if it exists.
    func remove(_ place: OperationAnswer.Place, _ values: JSONTemplate.Values) {
        let (collection, key) = place.filled(values)
        state.withLock { $0.records[collection, key] = nil }
    }
}

extension OperationAnswer {
    /// Whether a call gets this answer, apart from the records that it needs.
    fileprivate func matches(_ name: String, _ arguments: JSONObject) -> Bool {
        (operation == name || operation.hasSuffix("/" + name))
            && (self.arguments?.isContained(in: .object(arguments)) ?? true)
    }

    /// Looks up the records that the answer needs; false if one is missing.
    fileprivate func finds(in records: SimulatedRecords, _ values: inout JSONTemplate.Values) -> Bool {
        for place in [read, remove] {
            guard let (collection, key) = place?.filled(values) else { continue }
            guard let record = records[collection, key] else { return false }
            values["record"] = record
        }
        return true
    }

    /// Changes the records, and makes the answer.
    fileprivate func given(_ records: inout SimulatedRecords, _ values: JSONTemplate.Values) -> StandIn.Answer {
        var values = values
        if let (collection, key) = remove?.filled(values) { records[collection, key] = nil }
        if let keep { values["record"] = records.keep(keep, values) }
        if let list { values["records"] = .array(records.all(in: list.filled(values).asKey)) }
        return switch outcome {
        case .result(let template): StandIn.Answer(.success(template.filled(values)), delay: delay)
        case .failure(let error): StandIn.Answer(.failure(error), delay: delay)
        }
    }
}

extension SimulatedRecords {
    /// Keeps a record, and returns it.
    @discardableResult
    fileprivate mutating func keep(_ kept: OperationAnswer.Kept, _ values: JSONTemplate.Values) -> JSONValue {
        let (collection, key) = kept.place.filled(values)
        let value = kept.value.filled(values)
        self[collection, key] = value
        return value
    }
}

extension OperationAnswer.Place {
    /// The names of the collection and the record.
    fileprivate func filled(_ values: JSONTemplate.Values) -> (collection: String, key: String) {
        (collection.filled(values).asKey, key.filled(values).asKey)
    }
}

extension JSONValue {
    /// The value as the name of a record: a text as it is, another value as JSON.
    fileprivate var asKey: String { string ?? serialized() }
}
