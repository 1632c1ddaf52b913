// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer

/// The answers of a vendor without a built-in simulator, from a file written by a plugin's author or user.
///
/// ```json
/// {
///   "version": 1,
///   "answers": [
///     { "path": "/v1/ping", "json": { "ok": true } },
///     { "method": "POST", "path": "/v1/rain/*", "status": 201, "headers": { "X-Id": "7" }, "text": "stored" }
///   ]
/// }
/// ```
///
/// Every request gets the first answer whose method and path match. An answer without a method matches every method; a
/// path that ends with `*` matches every path with that prefix; the query is ignored.
package struct RecordedAnswers: Sendable {
    /// One answer, and the requests that it matches.
    struct Answer: Sendable {
        /// The method in upper case; nil for every method.
        var method: String?
        /// The path, or its prefix.
        var path: String
        /// Whether ``path`` is a prefix.
        var isPrefix: Bool
        /// The response to send.
        var response: HTTPResponse
    }

    /// The answers, in file order.
    private(set) var answers: [Answer] = []

    /// The version of the format.
    package static let formatVersion: Int64 = 1

    /// Creates an empty set of answers.
    init() {}

    /// Reads a file.
    ///
    /// - Throws: A ``ConnectorError`` with the first fault and its position.
    package init(parsing text: [UInt8], file: String) throws(ConnectorError) {
        let value = try JSONValue(parsing: text, file: file)
        var reader = JSONReader(text: text, file: file)
        answers = reader.answers(value)
        if let problem = reader.problems.first { throw problem }
    }

    /// The answer to a request; nil if there is none.
    func answer(to request: SimulatedRequest) -> HTTPResponse? {
        answers.first { answer in
            (answer.method ?? request.method) == request.method
                && (answer.isPrefix ? request.path.hasPrefix(answer.path) : request.path == answer.path)
        }?.response
    }
}

extension JSONReader {
    /// Reads the root of a file of answers.
    fileprivate mutating func answers(_ value: JSONValue) -> [RecordedAnswers.Answer] {
        let root = JSONPath()
        guard let object = members(of: value, at: root, allowed: ["version", "answers"]) else { return [] }
        let known = RecordedAnswers.formatVersion
        _ = integer("version", in: object, at: root, required: true, within: known...known)
        let elements = self.value("answers", in: object, at: root, required: true, kind: "an array") { $0.array } ?? []
        return elements.enumerated().compactMap { answer($1, at: root.appending("answers").appending($0)) }
    }

    private mutating func answer(_ value: JSONValue, at place: JSONPath) -> RecordedAnswers.Answer? {
        let allowed = ["method", "path", "status", "headers", "json", "text"]
        guard let object = members(of: value, at: place, allowed: allowed) else { return nil }
        let method = string("method", in: object, at: place)?.uppercased()
        let status = integer("status", in: object, at: place, within: 200...599) ?? 200
        guard let path = string("path", in: object, at: place, required: true) else { return nil }
        if !path.hasPrefix("/") {
            report(.invalidValue, "the path \"\(path.excerpt)\" must begin with /", at: place.appending("path"))
        }
        if object["json"] != nil, object["text"] != nil {
            report(.invalidValue, "an answer has \"json\" or \"text\", never both", at: place.appending("text"), .name)
        }
        var response =
            object["json"].map { HTTPResponse(status: Int(status), json: $0) }
            ?? string("text", in: object, at: place).map { HTTPResponse(status: Int(status), text: $0) }
            ?? HTTPResponse(status: Int(status))
        for member in self.object("headers", in: object, at: place)?.members ?? [] {
            let here = place.appending("headers").appending(member.name)
            guard let text = member.value.string, Self.isField(member.name, text) else {
                report(.invalidValue, "\(name(of: here)) must be a string that HTTP allows as a header", at: here)
                continue
            }
            response.headers[member.name] = text
        }
        let isPrefix = path.hasSuffix("*")
        return RecordedAnswers.Answer(
            method: method,
            path: isPrefix ? String(path.dropLast()) : path,
            isPrefix: isPrefix,
            response: response
        )
    }

    /// Whether a header's name and value can be sent.
    private static func isField(_ name: String, _ value: String) -> Bool {
        !name.isEmpty && name.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: ":") }
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }
}
