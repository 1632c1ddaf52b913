// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Rollbar's API for items: `POST /api/1/item/`, and `GET /api/1/status/ping`.
///
/// The item is the body or, from older notifiers, `payload` in a form. The token comes in `X-Rollbar-Access-Token` or beside the item.
/// It is checked before the item: a missing token answers 401, an unknown one 403. An item without an environment, or without a body of
/// exactly one known kind, answers 422; a request over 512 KiB, 413. Every answer but the ping's says what is left of the rate limit.
/// Not served: what reads items, such as a search. Source: Rollbar's documentation of the API and its notifiers.
struct RollbarVendor: Vendor {
    static let name = "rollbar"
    static let demoCredentials = ["accessToken": "0123456789abcdef0123456789abcdef"]
    static let secretKeys = ["accessToken"]

    /// The most bytes of a request.
    private static let limit = 512 << 10
    /// The kinds of an item's body, which has exactly one of these members.
    private static let kinds: Set = ["trace", "trace_chain", "message", "crash_report"]
    /// The levels of an item.
    private static let levels: Set = ["critical", "error", "warning", "info", "debug"]

    /// The tokens that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        guard path.starts(with: ["api", "1"]) else { return failure(status: 404) }
        if path.dropFirst(2) == ["status", "ping"] { return HTTPResponse(text: "pong") }
        guard path.dropFirst(2) == ["item"] || path.dropFirst(2) == ["items"] else { return failure(status: 404) }
        guard request.method == "POST" else { return failure(status: 405) }
        guard request.body.count <= Self.limit else { return failure(status: 413) }
        let payload = request.parameters["payload"].map { Array($0.utf8) }
        let body = try? JSONValue(parsing: payload ?? request.body)
        guard let token = request.fields["X-Rollbar-Access-Token"] ?? body?["access_token"]?.string, !token.isEmpty
        else { return failure(status: 401, message: "access token required") }
        guard credentials.accepts("accessToken", token) else {
            return failure(status: 403, message: "invalid access token")
        }
        guard let body else { return failure(status: 400, message: "Invalid JSON") }
        guard let data = body["data"]?.object else { return failure(status: 422, message: "data is required") }
        if let problem = Self.problem(of: .object(data)) { return failure(status: 422, message: problem) }
        let uuid = data["uuid"]?.string ?? Identifier.uuid()
        let result: JSONValue = ["err": 0, "result": ["id": .null, "uuid": .string(uuid)]]
        return HTTPResponse(headers: Self.rate(remaining: 4999), json: result)
    }

    /// What is wrong with an item; nil if it is valid.
    private static func problem(of data: JSONValue) -> String? {
        guard let environment = data["environment"]?.string, !environment.isEmpty, environment.utf8.count <= 255 else {
            return "Invalid format. data.environment must be a string of 1 to 255 characters"
        }
        guard let body = data["body"]?.object, body.names.count(where: kinds.contains) == 1 else {
            return "Invalid format. data.body must have exactly one of trace, trace_chain, message, crash_report"
        }
        if let message = body["message"], message["body"]?.string?.isEmpty != false {
            return "Invalid format. data.body.message.body is required"
        }
        for trace in body["trace_chain"]?.array ?? body["trace"].map({ [$0] }) ?? [] {
            guard trace["exception"]?["class"]?.string != nil, let frames = trace["frames"]?.array,
                frames.allSatisfy({ $0["filename"]?.string != nil })
            else { return "Invalid format. A trace needs exception.class, and frames with a filename" }
        }
        if let level = data["level"]?.string, !levels.contains(level) { return "Invalid format. data.level is unknown" }
        return (data["uuid"]?.string?.utf8.count ?? 0) > 36 ? "Invalid format. data.uuid is too long" : nil
    }

    /// The header fields that say what is left of the rate limit.
    private static func rate(remaining: Int) -> HTTPFields {
        [
            "X-Rate-Limit-Limit": "5000", "X-Rate-Limit-Remaining": "\(remaining)",
            "X-Rate-Limit-Remaining-Seconds": "60",
        ]
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        return HTTPResponse(
            status: status,
            headers: Self.rate(remaining: status == 429 ? 0 : 4999),
            json: ["err": 1, "message": .string(message ?? code ?? HTTPReason.text(of: status))]
        )
    }
}
