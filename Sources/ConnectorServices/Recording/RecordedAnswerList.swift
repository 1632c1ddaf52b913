// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The answers of a recording, and the calls of the gate.
///
/// Their order depends only on the requests and calls; answers to equal requests stay in the order in which they
/// arrived.
package struct RecordedAnswerList: Sendable {
    /// An answer, and how often in a row it was given.
    private struct Run: Sendable {
        var response: RecordedResponse
        var count: Int
    }

    /// The answers to each request, in order.
    private var runs: [RecordedRequestMatch: [Run]] = [:]
    /// The calls, in the order in which they ended.
    private var calls: [RecordedCall] = []
    /// The time of day that the plugin read; nil if it did not ask for it.
    package var time: Timestamp?

    /// Creates a list without answers.
    package init() {}

    /// How many answers there are.
    package var count: Int { runs.values.reduce(0) { $0 + $1.count } }

    /// Whether an answer equals the last one given to the same request.
    func repeats(_ response: RecordedResponse, to match: RecordedRequestMatch) -> Bool {
        runs[match]?.last?.response == response
    }

    /// Adds an answer behind those to the same request.
    mutating func add(_ response: RecordedResponse, to match: RecordedRequestMatch, count: Int = 1) {
        if repeats(response, to: match), let last = runs[match]?.indices.last {
            runs[match]?[last].count += count
        } else {
            runs[match, default: []].append(Run(response: response, count: count))
        }
    }

    /// Adds a call that has ended.
    mutating func add(_ call: RecordedCall) { calls.append(call) }

    /// The file of answers.
    ///
    /// - Parameter isPart: Whether the last answer to each request also says how often it was given, for add(part:).
    ///   Otherwise a replay gives it as often as it is asked for.
    package func document(isPart: Bool = false) -> JSONValue {
        let elements = runs.sorted { $0.key < $1.key }.flatMap { match, runs in
            runs.enumerated().map { index, run in
                let isLimited = isPart || index < runs.count - 1
                let times = isLimited ? [JSONObject.Member(name: "times", value: .integer(Int64(run.count)))] : []
                return JSONValue.object(JSONObject(unique: match.members + times + run.response.members))
            }
        }
        var document: JSONObject = ["version": 1, "exact": true]
        document.set("time", time)
        document["answers"] = .array(elements)
        let order = calls.enumerated().sorted { ($0.element.key, $0.offset) < ($1.element.key, $1.offset) }
        document.set("calls", order.map { .object($0.element.json) })
        return .object(document)
    }

    /// Appends the answers and calls of another process.
    ///
    /// - Parameter part: The document that document(isPart:) made in that process.
    package mutating func add(part: JSONValue) {
        time = time ?? part["time"]?.string.flatMap(Timestamp.init(parsing:))
        for answer in part["answers"]?.array ?? [] {
            guard let object = answer.object, let match = RecordedRequestMatch(of: object) else { continue }
            add(RecordedResponse(of: object), to: match, count: Int(answer["times"]?.integer ?? 1))
        }
        calls += (part["calls"]?.array ?? []).compactMap { $0.object.flatMap(RecordedCall.init) }
    }
}
