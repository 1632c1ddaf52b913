// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Bugsnag's error reporting API: `POST /` with events, and sessions at `/sessions` or `/`.
///
/// The project's key comes in `Bugsnag-Api-Key` or, from older notifiers, in the body. Valid events are answered 200, and
/// sessions 202; the real vendor processes them later. A missing or unknown key is refused with 401, an invalid request with
/// 400, and one over 1 MiB with 413. Source: Bugsnag's documentation and its notifiers.
struct BugsnagVendor: Vendor {
    static let name = "bugsnag"
    static let demoCredentials = ["apiKey": "0123456789abcdef0123456789abcdef"]
    static let secretKeys = ["apiKey"]

    /// The most bytes of a request.
    private static let limit = 1 << 20

    /// The keys that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        guard path.isEmpty || path == ["notify"] || path == ["sessions"] else { return failure(status: 404) }
        if request.method == "GET" { return HTTPResponse(text: "Bugsnag notify endpoint") }
        guard request.method == "POST" else { return failure(status: 405) }
        guard request.body.count <= Self.limit else { return failure(status: 413) }
        guard let body = try? request.json(), case .object = body else {
            return failure(status: 400, message: "the payload is not valid JSON")
        }
        guard let key = request.fields["Bugsnag-Api-Key"] ?? body["apiKey"]?.string, !key.isEmpty else {
            return failure(status: 401, message: "apiKey is missing")
        }
        guard credentials.accepts("apiKey", key) else { return failure(status: 401, message: "apiKey is invalid") }
        if path == ["sessions"] || body["events"] == nil && body["sessionCounts"] ?? body["sessions"] != nil {
            return HTTPResponse(status: 202, json: ["status": "accepted"])
        }
        let problems = Self.problems(in: body)
        guard problems.isEmpty else {
            return HTTPResponse(status: 400, json: ["errors": .array(problems.map { .string($0) })])
        }
        return HTTPResponse(text: "OK")
    }

    /// The problems of a payload.
    private static func problems(in body: JSONValue) -> [String] {
        guard let events = body["events"]?.array else { return ["events is required and must be an array"] }
        var problems: [String] = []
        if body["notifier"]?.object == nil { problems.append("notifier is required") }
        for (index, event) in events.enumerated() {
            guard let exceptions = event["exceptions"]?.array, !exceptions.isEmpty else {
                problems.append("events[\(index)].exceptions is required")
                continue
            }
            if exceptions.contains(where: { $0["errorClass"]?.string == nil }) {
                problems.append("events[\(index)].exceptions[].errorClass is required")
            }
        }
        return problems
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        let text = message ?? code ?? HTTPReason.text(of: status)
        return HTTPResponse(status: status, json: ["errors": [.string(text)]])
    }
}
