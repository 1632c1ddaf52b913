// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// The answers of a recording, and the calls of the gate.
///
/// Their order depends only on the requests and calls; answers to equal requests stay in the order in which they
/// arrived. The first that has no room is left out, and so is everything after it.
package struct RecordedAnswerList: Sendable {
    /// An answer, and how often in a row it was given.
    private struct Run: Sendable {
        var response: RecordedResponse
        var count: Int
    }

    /// The most bytes of a document without answers and calls.
    static let emptySize = 256

    /// The answers to each request, in order.
    private var runs: [RecordedRequestMatch: [Run]] = [:]
    /// The calls, in the order in which they ended.
    private var calls: [RecordedCall] = []
    /// The time of day that the plugin read; nil if it did not ask for it.
    package var time: Timestamp?
    /// The most bytes of the document.
    private let limit: Int
    /// The most bytes that the document has with what the list has so far, and a line break at its end.
    private(set) var size = emptySize
    /// How many answers and calls had no room.
    package private(set) var leftOut = 0

    /// Creates a list without answers.
    ///
    /// - Parameter limit: The most bytes of its document, with a line break at the end.
    package init(limit: Int) { self.limit = limit }

    /// How many answers there are.
    package var count: Int { runs.values.reduce(0) { $0 + $1.count } }

    /// Whether an answer equals the last one given to the same request.
    func repeats(_ response: RecordedResponse, to match: RecordedRequestMatch) -> Bool {
        runs[match]?.last?.response == response
    }

    /// Adds an answer behind those to the same request.
    ///
    /// - Returns: Whether there is room for it.
    @discardableResult
    mutating func add(_ response: RecordedResponse, to match: RecordedRequestMatch, count: Int = 1) -> Bool {
        let isRepeated = repeats(response, to: match)
        let element = Self.element(match, times: Self.mostTimes, response)
        guard reserve(isRepeated ? nil : element, count) else { return false }
        if isRepeated, let last = runs[match]?.indices.last {
            runs[match]?[last].count += count
        } else {
            runs[match, default: []].append(Run(response: response, count: count))
        }
        return true
    }

    /// Adds a call that has ended.
    ///
    /// - Returns: Whether there is room for it.
    @discardableResult
    mutating func add(_ call: RecordedCall) -> Bool {
        guard reserve(call.json, 1) else { return false }
        calls.append(call)
        return true
    }

    /// Makes room for an element of the document.
    ///
    /// - Parameter element: Nil for one that the document already has.
    private mutating func reserve(_ element: JSONObject?, _ count: Int) -> Bool {
        let grown = size + (element.map { Self.length(of: $0) } ?? 0)
        guard leftOut == 0, grown <= limit else {
            leftOut += count
            return false
        }
        size = grown
        return true
    }

    /// The bytes of an element of the document: each of its lines is indented by two levels, and the last ends with a comma.
    private static func length(of element: JSONObject) -> Int {
        let text = JSONValue.object(element).utf8(pretty: true)
        let lines = 1 + text.count { $0 == UInt8(ascii: "\n") }
        return text.count + 4 * lines + 2
    }

    /// The most requests in a row that a file says got the same answer.
    private static let mostTimes = 1_000_000

    private static func element(_ match: RecordedRequestMatch, times: Int?, _ response: RecordedResponse) -> JSONObject
    {
        let times = times.map { [JSONObject.Member(name: "times", value: .integer(Int64($0)))] } ?? []
        return JSONObject(unique: match.members + times + response.members)
    }

    /// The file of answers.
    ///
    /// - Parameter isPart: Whether the last answer to each request also says how often it was given, for add(part:).
    ///   Otherwise a replay gives it as often as it is asked for.
    package func document(isPart: Bool = false) -> JSONValue {
        let elements = runs.sorted { $0.key < $1.key }.flatMap { match, runs in
            runs.enumerated().map { index, run in
                let isLimited = isPart || index < runs.count - 1
                let times = isLimited ? min(run.count, Self.mostTimes) : nil
                return JSONValue.object(Self.element(match, times: times, run.response))
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
        for call in part["calls"]?.array ?? [] {
            if let call = call.object.flatMap(RecordedCall.init) { add(call) }
        }
    }
}
