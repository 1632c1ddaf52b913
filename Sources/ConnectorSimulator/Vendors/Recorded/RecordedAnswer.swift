// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// One recorded answer, and the requests that it matches.
struct RecordedAnswer: Sendable {
    /// The method in upper case; nil for every method.
    var method: String?
    /// The path.
    var path: TextPattern
    /// The header fields that the request must have.
    var headers: [(name: String, value: TextPattern)] = []
    /// The query items that the request must have.
    var query: [(name: TextPattern, value: TextPattern)] = []
    /// The JSON or text that the body must contain; nil for any body.
    var body: JSONValue?
    /// The bytes that the body must have; nil for any body.
    var bytes: [UInt8]?
    /// The SHA-256 of the body, in hexadecimal; nil for any body.
    var digest: String?
    /// How many requests get this answer; nil for all.
    var times: Int?
    /// How long to delay the response.
    var delay = Duration.zero
    /// The response to send.
    var response: HTTPResponse

    /// Whether this answer matches a request, however often it has been given.
    ///
    /// - Parameter isExact: Whether the request must have nothing else in its query and its body.
    func matches(_ request: AnsweredRequest, isExact: Bool) -> Bool {
        hasMethod(of: request) && path.matches(request.path) && differences(from: request, isExact: isExact).isEmpty
    }

    /// Whether the method fits, in whatever case it was sent.
    func hasMethod(of request: AnsweredRequest) -> Bool {
        guard let method else { return true }
        return request.request.isFor(method: method) || method == request.request.sentMethod.uppercased()
    }

    /// What a request lacks, has in excess, or has with another value, apart from its method and path; empty if nothing.
    func differences(from request: AnsweredRequest, isExact: Bool) -> [AnswerDifference] {
        var differences: [AnswerDifference] = []
        for (name, value) in headers {
            let given = request.request.fields[name]
            if given.map(value.matches) ?? false { continue }
            differences.append(
                AnswerDifference(.header(name), wanted: .string(value.text), given: given.map(JSONValue.string))
            )
        }
        if !query.isEmpty || isExact { differences += queryDifferences(request.query, isExact: isExact) }
        if let body, let difference = bodyDifference(body, request, isExact: isExact) { differences.append(difference) }
        if let bytes, bytes != request.bytes {
            differences.append(bytesDifference(of: Base64.encode(bytes), Base64.encode(request.bytes)))
        }
        if let digest, digest != request.digest { differences.append(bytesDifference(of: digest, request.digest)) }
        return differences
    }

    private func bytesDifference(of wanted: String, _ given: String) -> AnswerDifference {
        AnswerDifference(.body(nil), wanted: .string(wanted), given: .string(given))
    }

    private func queryDifferences(_ items: [QueryItems.Item], isExact: Bool) -> [AnswerDifference] {
        var differences: [AnswerDifference] = []
        for (name, value) in query
        where !items.contains(where: { name.matches($0.name) && value.matches($0.value) }) {
            let given = items.first { name.matches($0.name) }?.value
            differences.append(
                AnswerDifference(.query(name.text), wanted: .string(value.text), given: given.map(JSONValue.string))
            )
        }
        guard isExact else { return differences }
        for item in items where !query.contains(where: { $0.name.matches(item.name) }) {
            differences.append(AnswerDifference(.query(item.name), wanted: nil, given: .string(item.value)))
        }
        return differences
    }

    /// How the body differs from the expected text or JSON, which it must contain or, if `isExact`, equal; nil if it does not.
    private func bodyDifference(_ body: JSONValue, _ request: AnsweredRequest, isExact: Bool) -> AnswerDifference? {
        if let text = body.string {
            let isSame = isExact ? TextPattern(text).matches(request.text) : request.text.contains(text)
            return isSame ? nil : AnswerDifference(.body(nil), wanted: body, given: .string(request.text))
        }
        guard let json = request.json else {
            return AnswerDifference(.body(nil), wanted: body, given: .string(request.text))
        }
        return JSONExpectation(isExact: isExact).difference(body, json, at: JSONPath())
    }
}
