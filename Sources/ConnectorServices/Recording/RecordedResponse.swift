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
    /// - Parameter method: The method of the request: only an answer to HEAD keeps `Content-Length`, because it has no
    ///   body to measure.
    init(_ reply: HTTPResponse, to method: String, _ texts: RecordedTexts) {
        var answer: JSONObject = ["status": .integer(Int64(reply.status))]
        // Read the body first, because it may issue tokens that the headers repeat.
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
        members = answer.members + (body.map { [$0] } ?? [])
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

    private static func body(_ bytes: [UInt8], _ texts: RecordedTexts) -> JSONObject.Member? {
        guard !bytes.isEmpty else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            return .init(name: "base64", value: .string(Base64.encode(bytes)))
        }
        if let value = try? JSONValue(parsing: bytes), value.keepsNumbers {
            return .init(name: "json", value: texts.response(value))
        }
        return .init(name: "text", value: .string(texts.response(text)))
    }

    /// Whether a header differs between two equal sessions, or is set again when the body is replayed.
    private static func isVolatile(_ name: String) -> Bool {
        volatile.contains(name)
            || ["cf-", "ratelimit", "x-amz-", "x-cache", "x-ratelimit"].contains { name.hasPrefix($0) }
    }

    private static let volatile: Set<String> = [
        "age", "alt-svc", "connection", "content-encoding", "content-length", "date", "expires", "keep-alive", "nel",
        "report-to", "request-id", "server-timing", "set-cookie", "traceparent", "trailer", "transfer-encoding", "via",
        "x-clickhouse-query-id", "x-clickhouse-summary",
        "x-correlation-id", "x-request-id", "x-response-time", "x-runtime", "x-served-by", "x-timer", "x-trace-id",
    ]
}

extension JSONValue {
    /// Whether every number is written back as it was read: a whole number beyond 64 bits would lose digits.
    fileprivate var keepsNumbers: Bool {
        switch self {
        case .null, .bool, .integer, .string: true
        case .number(let number): number.magnitude < 9_007_199_254_740_992
        case .array(let elements): elements.allSatisfy(\.keepsNumbers)
        case .object(let object): object.members.allSatisfy(\.value.keepsNumbers)
        }
    }
}
