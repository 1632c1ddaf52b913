// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// One recorded answer, and the requests that it matches.
struct RecordedAnswer: Sendable {
    /// The method in upper case; nil for every method.
    var method: String?
    /// The path.
    var path: Pattern
    /// The header fields that the request must have.
    var headers: [(name: String, value: Pattern)] = []
    /// The query items that the request must have.
    var query: [(name: String, value: Pattern)] = []
    /// What the body must contain; nil for any body.
    var body: JSONValue?
    /// How many requests get this answer; nil for all.
    var times: Int?
    /// How long the response is delayed.
    var delay = Duration.zero
    /// The response to send.
    var response: HTTPResponse

    /// A text or, if it ends with `*`, every text with that prefix.
    struct Pattern: Sendable {
        private let text: Substring
        private let isPrefix: Bool

        init(_ text: String) {
            isPrefix = text.hasSuffix("*")
            self.text = text.dropLast(isPrefix ? 1 : 0)
        }

        func matches(_ other: String) -> Bool { isPrefix ? other.hasPrefix(text) : other == text }
    }

    /// Whether a request gets this answer, if any is left.
    func matches(_ request: SimulatedRequest) -> Bool {
        let items = query.isEmpty ? [] : request.query.items
        return (method ?? request.method) == request.method && path.matches(request.path)
            && headers.allSatisfy { header in request.fields[header.name].map(header.value.matches) ?? false }
            && query.allSatisfy { wanted in items.contains { $0.name == wanted.name && wanted.value.matches($0.value) }
            }
            && isContained(in: request)
    }

    /// Whether the request's body has what this answer asks for: a text anywhere, or the members of a JSON object.
    private func isContained(in request: SimulatedRequest) -> Bool {
        switch body {
        case nil: return true
        case .string(let text): return request.text.contains(text)
        case .some(let part): return (try? request.json()).map(part.isContained) ?? false
        }
    }
}

extension JSONValue {
    /// Whether another value equals this one, apart from further members of its objects.
    func isContained(in other: JSONValue) -> Bool {
        switch (self, other) {
        case (.object(let object), _):
            object.members.allSatisfy { member in other[member.name].map(member.value.isContained) ?? false }
        case (.array(let elements), .array(let others)):
            elements.count == others.count && zip(elements, others).allSatisfy { $0.isContained(in: $1) }
        // An f64 of 1 is the number 1.0, which a person writes as 1.
        case (.integer, .number), (.number, .integer): number == other.number
        default: self == other
        }
    }
}
