// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// The answers of a vendor without a built-in simulator: the `answers` of a ``SimulatedWorld``.
///
/// ```json
/// {
///   "version": 1,
///   "answers": [
///     { "path": "/v1/ping", "json": { "ok": true } },
///     { "method": "POST", "path": "/v1/rain/*", "times": 1, "status": 401 },
///     { "method": "POST", "path": "/v1/rain/*", "status": 201, "headers": { "X-Id": "7" }, "text": "stored", "delay": "2s" },
///     { "path": "/v1/rain", "when": { "query": { "page": "2" } }, "json": [] }
///   ]
/// }
/// ```
///
/// Every request gets the first answer that matches it and is not used up. An answer without a method matches every method. In paths,
/// headers and query items, each `*` stands for any text. `when` says what else the request must have: `headers`, `query`, and a
/// `body`, which is a text that the request's body contains, or JSON whose members it has at least; or the whole body as `base64`
/// or by its `sha256`.
///
/// A recording is `exact`: a request must have nothing else in its query and its body, and fails if no answer matches; `*` then stands
/// for any text in the body, too, and a response has no `Content-Type` unless its headers do.
package struct RecordedAnswers: Sendable {
    /// The answers, in file order.
    let answers: [RecordedAnswer]
    /// Whether a request must match exactly, and fails if no answer does.
    let isExact: Bool

    /// Creates a set of answers.
    init(_ answers: [RecordedAnswer] = [], isExact: Bool = false) {
        self.answers = answers
        self.isExact = isExact
    }
}

extension JSONReader {
    /// Reads `answers`; nil if absent.
    mutating func answers(in object: JSONObject, at root: JSONPath, isExact: Bool = false) -> RecordedAnswers? {
        let elements = value("answers", in: object, at: root, kind: "an array") { $0.array }
        let answers = elements?.enumerated().compactMap { index, element in
            answer(element, at: root.appending("answers").appending(index), isExact: isExact)
        }
        return answers.map { RecordedAnswers($0, isExact: isExact) }
    }

    private mutating func answer(_ value: JSONValue, at place: JSONPath, isExact: Bool) -> RecordedAnswer? {
        let allowed = [
            "method", "path", "when", "times", "delay", "status", "headers", "json", "text", "base64", "error",
        ]
        guard let object = members(of: value, at: place, allowed: allowed) else { return nil }
        let method = string("method", in: object, at: place)?.uppercased()
        if let method, method.isEmpty || !method.utf8.allSatisfy({ $0.isLetter || $0 == UInt8(ascii: "-") }) {
            report(.invalidValue, "\"\(method.excerpt)\" is not an HTTP method", at: place.appending("method"))
        }
        let path = string("path", in: object, at: place, required: true)
        if let path, !path.hasPrefix("/") {
            report(.invalidValue, "the path \"\(path.excerpt)\" must begin with /", at: place.appending("path"))
        } else if let path, path.utf8.contains(UInt8(ascii: "?")) {
            report(
                .invalidValue,
                "the path \"\(path.excerpt)\" has a query, which a path never matches",
                fix: "write it as \"when\": {\"query\": {NAME: TEXT}}",
                at: place.appending("path")
            )
        }
        let times = integer("times", in: object, at: place, within: 1...1_000_000).map { Int($0) }
        let delay = delay("delay", in: object, at: place)
        let response = response(in: object, at: place, isExact: isExact)
        var answer = RecordedAnswer(
            method: method,
            path: .init(path ?? ""),
            times: times,
            delay: delay,
            response: response
        )
        if let conditions = object["when"] { read(conditions, into: &answer, at: place.appending("when")) }
        return answer
    }

    /// Reads what a request must have besides its method and path.
    private mutating func read(_ conditions: JSONValue, into answer: inout RecordedAnswer, at place: JSONPath) {
        let allowed = ["headers", "query", "body", "base64", "sha256"]
        guard let object = members(of: conditions, at: place, allowed: allowed) else { return }
        answer.headers = texts("headers", in: object, at: place).map { ($0, .init($1)) }
        answer.query = texts("query", in: object, at: place).map { (TextPattern($0), TextPattern($1)) }
        answer.body = object["body"]
        answer.bytes = string("base64", in: object, at: place, kind: "Base64") { Base64.decode($0) }
        answer.digest = string("sha256", in: object, at: place, kind: "64 hexadecimal digits in lower case") { text in
            text.utf8.count == 64 && text.utf8.allSatisfy(\.isLowercaseHexDigit) ? text : nil
        }
    }

    private mutating func response(in object: JSONObject, at place: JSONPath, isExact: Bool) -> HTTPResponse {
        let failure = requestFailure(in: object, at: place)
        let isResponse = ["status", "headers", "json", "text", "base64"].contains { object[$0] != nil }
        if let failure, !isResponse { return HTTPResponse(failing: failure) }
        let status = Int(integer("status", in: object, at: place, within: 200...999) ?? 200)
        let bodies = ["json", "text", "base64"].filter { object[$0] != nil }
        if bodies.count > 1 {
            report(
                .invalidValue,
                "an answer has one of \"json\", \"text\" and \"base64\"",
                at: place.appending(bodies[1]),
                .name
            )
        }
        var response =
            object["json"].map { HTTPResponse(status: status, json: $0) }
            ?? string("text", in: object, at: place).map { HTTPResponse(status: status, text: $0) }
            ?? HTTPResponse(status: status)
        if let body = string("base64", in: object, at: place, kind: "Base64", { Base64.decode($0) }) {
            response.body = body
        }
        if isExact { response.headers["Content-Type"] = nil }
        for (name, value) in texts("headers", in: object, at: place) {
            guard Self.isField(name, value) else {
                let here = place.appending("headers").appending(name)
                report(.invalidValue, "\(self.name(of: here)) must be a string that HTTP allows as a header", at: here)
                continue
            }
            response.headers[name] = value
        }
        if let failure { response.breakOff(with: failure) }
        return response
    }

    /// Reads `error`, which takes the place of a response, or ends it: `{"code": CODE, "message": TEXT, "retryable": BOOLEAN}`.
    private mutating func requestFailure(in object: JSONObject, at place: JSONPath) -> RequestFailure? {
        guard let value = object["error"] else { return nil }
        let here = place.appending("error")
        guard let members = members(of: value, at: here, allowed: ["code", "message", "retryable"]) else { return nil }
        let (code, isRetryable) = failureKind(in: members, at: here)
        let message = string("message", in: members, at: here)
        if let message, message.utf8.count > RequestFailure.messageLimit {
            report(
                .invalidValue,
                "\(self.name(of: here.appending("message"))) has more than \(RequestFailure.messageLimit >> 10) KiB",
                at: here.appending("message")
            )
        }
        return RequestFailure(code, message ?? "simulated", isRetryable: isRetryable)
    }

    /// Reads an optional duration of at most an hour; zero if absent.
    mutating func delay(_ name: String, in object: JSONObject, at place: JSONPath) -> Duration {
        let kind = "a duration such as \"250ms\" or \"5s\", at most \"1h\""
        guard let text = value(name, in: object, at: place, kind: kind, { $0.string }) else { return .zero }
        guard let delay = Duration(parsing: text), delay <= Self.longestDelay else {
            report(.invalidValue, "the \(name) is \"\(text.excerpt)\"; it must be \(kind)", at: place.appending(name))
            return .zero
        }
        return delay
    }

    private static let longestDelay = Duration.seconds(3600)

    /// Reads an optional object of strings.
    private mutating func texts(_ name: String, in object: JSONObject, at place: JSONPath) -> [(String, String)] {
        var texts: [(String, String)] = []
        for member in self.object(name, in: object, at: place)?.members ?? [] {
            if let text = member.value.string {
                texts.append((member.name, text))
            } else {
                let here = place.appending(name).appending(member.name)
                report(.wrongType, "\(self.name(of: here)) must be a string, not \(member.value.kind)", at: here)
            }
        }
        return texts
    }

    /// Whether a header's name and value can be sent.
    private static func isField(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy(\.isFieldValueCharacter)
    }
}
