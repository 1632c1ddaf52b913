// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Segment's tracking API: `POST /v1/batch` and one path per kind of event.
///
/// The real API returns 200 for nearly every request, even with an unknown write key, and later drops invalid events.
/// It returns 400 for an obvious error: no write key, invalid JSON, too many bytes. Only the settings of a source,
/// which the browser and mobile libraries fetch by write key, reveal an unknown key: 404. Source: Segment's
/// documentation of the HTTP API and its client libraries.
struct SegmentVendor: Vendor {
    static let name = "segment"
    static let demoCredentials = ["writeKey": "demo-write-key"]
    static let secretKeys = ["writeKey"]

    /// The maximum size of one event and of one request, in bytes.
    private static let limits = (event: 32 << 10, batch: 500 << 10)
    /// The last path components of endpoints for one event, including the browser library's short forms.
    private static let kinds: Set = [
        "track", "identify", "screen", "page", "group", "alias", "t", "i", "s", "p", "g", "a",
    ]

    /// The known write keys.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        guard path.first == "v1", path.count > 1 else { return failure(status: 404) }
        if path.count == 4, path[1] == "projects", path[3] == "settings" { return settings(of: path[2]) }
        guard path.count == 2, ["batch", "b", "import", "m"].contains(path[1]) || Self.kinds.contains(path[1])
        else { return failure(status: 404) }
        guard request.method == "POST" else { return failure(status: 405) }
        guard request.body.count <= Self.limits.batch else {
            return failure(status: 400, code: "payload_too_large", message: "the request exceeds 500 KB")
        }
        guard let body = try? request.json(), case .object = body else {
            return failure(status: 400, code: "invalid_json", message: "malformed JSON")
        }
        let writeKey = request.basicCredentials?.username ?? body["writeKey"]?.string
        guard writeKey?.isEmpty == false || request.fields["Authorization"]?.hasPrefix("Bearer ") == true else {
            return failure(status: 400, code: "invalid_request", message: "no write key in Authorization or the body")
        }
        return accept(Self.kinds.contains(path[1]) ? [body] : body["batch"]?.array, isBatch: path[1] != "m")
    }

    /// Accepts events after checking their size, which is all that the real API checks synchronously.
    private func accept(_ events: [JSONValue]?, isBatch: Bool) -> HTTPResponse {
        guard isBatch else { return HTTPResponse(json: ["success": true]) }
        guard let events else {
            return failure(status: 400, code: "invalid_request", message: "batch must be an array")
        }
        guard events.allSatisfy({ $0.utf8().count <= Self.limits.event }) else {
            return failure(status: 400, code: "payload_too_large", message: "an event exceeds 32 KB")
        }
        return HTTPResponse(json: ["success": true])
    }

    /// A source's settings, which name its destinations.
    private func settings(of writeKey: String) -> HTTPResponse {
        guard credentials.accepts("writeKey", writeKey) else {
            return failure(status: 404, code: "not_found", message: "no source has this write key")
        }
        return HTTPResponse(json: [
            "integrations": ["Segment.io": ["apiKey": .string(writeKey)]],
            "plan": ["track": ["__default": ["enabled": true, "integrations": [:]]]],
        ])
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        var response = HTTPResponse(
            status: status,
            json: [
                "code": .string(code ?? Self.code(of: status)),
                "message": .string(message ?? HTTPReason.text(of: status)),
            ]
        )
        if status == 429 {
            for name in ["Retry-After", "X-RateLimit-Reset"] { response.headers[name] = "1" }
        }
        return response
    }

    /// The error code for a status.
    private static func code(of status: Int) -> String {
        switch status {
        case 413: "payload_too_large"
        case 429: "rate_limit_exceeded"
        case 500...: "internal_error"
        case 404: "not_found"
        default: "invalid_request"
        }
    }
}
