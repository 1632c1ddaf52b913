// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One way in which a request differs from what an answer asks for.
struct AnswerDifference: Sendable {
    /// A part of a request.
    enum Part: Sendable {
        case query(String)
        case header(String)
        /// The body, or a place in its JSON.
        case body(JSONPath?)
    }

    let part: Part
    /// What the answer asks for there; nil if nothing.
    let wanted: JSONValue?
    /// What the request has there; nil if nothing.
    let given: JSONValue?

    init(_ part: Part, wanted: JSONValue?, given: JSONValue?) {
        self.part = part
        self.wanted = wanted
        self.given = given
    }

    /// The number of steps from the root of the body's JSON to the place that differs; 0 elsewhere.
    var depth: Int {
        if case .body(let path?) = part { path.steps.count } else { 0 }
    }
}

extension AnswerDifference: CustomStringConvertible {
    /// The difference in words, such as `query "page" is "3", not "2"`.
    var description: String {
        switch (wanted, given) {
        case (let wanted?, let given?): "\(name) is \(Self.shown(given)), not \(Self.shown(wanted))"
        case (let wanted?, nil): "\(name) is missing; it was \(Self.shown(wanted))"
        case (nil, let given?): "\(name) is \(Self.shown(given)), and was not there"
        case (nil, nil): "\(name) differs"
        }
    }

    private static func shown(_ value: JSONValue) -> String {
        value.string.map { "\"\($0.excerpt)\"" } ?? value.serialized().excerpt
    }

    private var name: String {
        switch part {
        case .query(let name): "query \"\(name.excerpt)\""
        case .header(let name): "header \"\(name.excerpt)\""
        case .body(nil): "the body"
        case .body(let path?): "body \(path)"
        }
    }
}

/// Compares JSON with what an answer asks for.
struct JSONExpectation {
    /// Whether objects must have no further members, and expected texts are patterns.
    let isExact: Bool

    /// The first difference between a value and the expected one; nil if there is none.
    ///
    /// - Parameter expected: The expected value, whose depth is bounded because it comes from a file.
    func difference(_ expected: JSONValue, _ value: JSONValue, at path: JSONPath) -> AnswerDifference? {
        switch (expected, value) {
        case (.object(let object), .object(let other)):
            for member in object.members {
                let place = path.appending(member.name)
                guard let given = other[member.name] else {
                    return AnswerDifference(.body(place), wanted: member.value, given: nil)
                }
                if let difference = difference(member.value, given, at: place) { return difference }
            }
            guard isExact, let extra = other.members.first(where: { object[$0.name] == nil }) else { return nil }
            return AnswerDifference(.body(path.appending(extra.name)), wanted: nil, given: extra.value)
        case (.array(let elements), .array(let others)) where elements.count == others.count:
            for (index, pair) in zip(elements, others).enumerated() {
                if let difference = difference(pair.0, pair.1, at: path.appending(index)) { return difference }
            }
            return nil
        // An f64 of 1 is the number 1.0, but people write 1.
        case (.integer, .number), (.number, .integer): if expected.number == value.number { return nil }
        // `*` takes the place of a secret in a recording, and matches anything.
        case (.string("*"), _) where isExact: return nil
        case (.string(let text), .string(let other)) where isExact: if TextPattern(text).matches(other) { return nil }
        default: if expected == value { return nil }
        }
        return AnswerDifference(.body(path), wanted: expected, given: value)
    }
}

extension JSONValue {
    /// Whether another value equals this one, except that its objects may have further members.
    func isContained(in other: JSONValue) -> Bool {
        JSONExpectation(isExact: false).difference(self, other, at: JSONPath()) == nil
    }
}
