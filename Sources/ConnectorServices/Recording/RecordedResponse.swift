// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation

/// The response of a recorded answer, without secrets and without what differs each time.
struct RecordedResponse: Sendable, Equatable {
    /// The members of the answer.
    let members: [JSONObject.Member]

    /// Describes the response to a request.
    ///
    /// - Parameters:
    ///   - failure: What ended it before its end; nil if it is whole.
    ///   - method: The method of the request: only an answer to HEAD keeps `Content-Length`, because it has no body to
    ///     measure.
    init(_ reply: HTTPResponse, brokenBy failure: ServiceFailure?, to method: String, _ texts: RecordedTexts) {
        var answer: JSONObject = ["status": .integer(Int64(reply.status))]
        // Read the body first, because it may issue tokens that the headers repeat, as they may those that the body repeats.
        texts.addTokens(of: reply.headers)
        let body = Self.body(reply.body, texts)
        var headers: [String: String] = [:]
        for field in reply.headers {
            let name = field.name.lowercased()
            guard !Self.isVolatile(name) || name == "content-length" && method == "HEAD" else { continue }
            let value = texts.response(field.value)
            headers[name] = headers[name].map { "\($0), \(value)" } ?? value
        }
        if !headers.isEmpty {
            answer["headers"] = .object(
                JSONObject(headers.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.string($0.value)) })
            )
        }
        var members = answer.members
        if let body { members.append(body) }
        if let failure { members += RecordedResponse(failure, texts).members }
        self.members = members
    }

    /// Describes why a request got no response.
    init(_ failure: ServiceFailure, _ texts: RecordedTexts) {
        let error = RequestFailure(failure.code, texts.response(failure.message), isRetryable: failure.isRetryable)
        members = [.init(name: "error", value: error.json)]
    }

    /// Reads the response of a recorded answer.
    init(of answer: JSONObject) {
        members = answer.members.filter { !["method", "path", "when", "times"].contains($0.name) }
    }

    /// The body in a form whose replay has the same bytes, but for its secrets: JSON only if it is written back as it came, because a
    /// plugin may measure it, sign it, or pass it on.
    private static func body(_ bytes: [UInt8], _ texts: RecordedTexts) -> JSONObject.Member? {
        guard !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .init(name: "base64", value: .string(Base64.encode(bytes)))
        }
        guard let value = RecordedTexts.json(bytes) else {
            return .init(name: "text", value: .string(texts.response(text)))
        }
        // Read it as JSON in any case: it may issue tokens.
        let json = texts.response(value)
        guard value.utf8() != bytes else { return .init(name: "json", value: json) }
        let clean = texts.response(text)
        // A secret that only the JSON can be rid of makes other bytes of it anyway.
        let isSame = RecordedTexts.json(Array(clean.utf8)) == json
        return isSame ? .init(name: "text", value: .string(clean)) : .init(name: "json", value: json)
    }

    /// Whether a header differs between two equal sessions, or is set again when the body is replayed.
    private static func isVolatile(_ name: String) -> Bool {
        volatile.contains(name) || volatilePrefixes.contains { name.hasPrefix($0) }
    }

    private static let volatilePrefixes = [
        "cf-", "connector-host-", "ratelimit", "x-amz-cf-", "x-amz-id-", "x-amz-request-", "x-cache", "x-ratelimit",
    ]

    private static let volatile: Set<String> = [
        "age", "alt-svc", "connection", "content-length", "date", "expires", "keep-alive", "nel",
        "report-to", "request-id", "server-timing", "set-cookie", "traceparent", "trailer", "transfer-encoding", "via",
        "x-clickhouse-query-id", "x-clickhouse-summary",
        "x-correlation-id", "x-request-id", "x-response-time", "x-runtime", "x-served-by", "x-timer", "x-trace-id",
    ]
}
