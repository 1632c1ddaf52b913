// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// PostHog's capture API: `POST /batch/`, `/capture/` and their aliases, and the feature flags.
///
/// The project's key is in the body or, as `token`, in the query. An unknown or missing key is refused with 401 and `{detail}`, as by a
/// self-hosted PostHog. A batch with an event without a name or a person is refused whole, with a text, as by PostHog's capture
/// service; servers before it drop such events. So is one with an event that has more than 1 MB once it is quoted in JSON again, which
/// is how it goes to the queue of a self-hosted PostHog; newer services answer that with 413. Not served: `/i/v1/analytics/events`,
/// which clients use only if told to, and a flag's `remote_config`. Source: PostHog's capture service and its client libraries.
struct PostHogVendor: Vendor {
    static let name = "posthog"
    static let demoCredentials = ["apiKey": "phc_demo"]
    static let secretKeys = ["apiKey"]

    /// The maximum size of a decoded request, in bytes.
    private static let limit = 20 << 20
    /// The maximum size of an event in the queue, in bytes.
    private static let queueLimit = 1_000_000
    /// The first path components of endpoints for events.
    private static let captures: Set = ["batch", "capture", "e", "track", "engage", "s"]

    /// The keys that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        switch path.first {
        case "_health", "_readyz", "_livez": return HTTPResponse(text: "ok")
        case "flags" where path == ["flags", "definitions"]: return definitions(request)
        case "api" where path == ["api", "feature_flag", "local_evaluation"]: return definitions(request)
        case "flags", "decide": return flags(request)
        case "array" where path.count == 3 && path[2] == "config": return configuration(of: path[1])
        case let name? where Self.captures.contains(name) && path.count == 1: return capture(request)
        case "i" where path == ["i", "v0", "e"] || path == ["i", "v0", "ai", "batch"]: return capture(request)
        default: return failure(status: 404, code: "not_found", message: "Endpoint not found.")
        }
    }

    /// Accepts one event, an array of events, or a batch.
    private func capture(_ request: SimulatedRequest) -> HTTPResponse {
        guard request.method == "POST" || request.query["data"] != nil else {
            return failure(
                status: 405,
                code: "method_not_allowed",
                message: "Method \"\(request.method)\" not allowed."
            )
        }
        guard request.encodedBodyCount <= Self.limit, request.body.count <= Self.limit else {
            return failure(status: 413, code: "payload_too_large")
        }
        let body: JSONValue
        do {
            body = try payload(of: request)
        } catch {
            return failure(status: 400, code: "invalid_payload", message: error.message)
        }
        let events = body["batch"]?.array ?? body.array ?? [body]
        let key =
            body["api_key"] ?? body["token"] ?? Self.key(of: events.first) ?? request.query["token"].map { .string($0) }
        if let refusal = refusal(of: key?.string) { return refusal }
        guard !events.isEmpty else {
            return HTTPResponse(status: 400, text: "request holds no event")
        }
        let isEngage = request.components == ["engage"]
        if let problem = events.lazy.compactMap({ Self.problem(of: $0, isNamed: isEngage) }).first {
            return HTTPResponse(status: 400, text: problem)
        }
        return HTTPResponse(json: ["status": "Ok"])
    }

    /// What the capture service refuses an event for; nil if it takes the event.
    ///
    /// - Parameter isNamed: Whether the endpoint itself names the event.
    private static func problem(of event: JSONValue, isNamed: Bool) -> String? {
        if !isNamed, event["event"]?.string?.isEmpty != false { return "event submitted with an empty event name" }
        let person = [event["distinct_id"], event["$distinct_id"], event["properties"]?["distinct_id"]]
            .compactMap(\.self).first { $0 != .null }
        if person == nil || person == "" { return "event submitted without a distinct_id" }
        return JSONValue.string(event.serialized()).utf8().count > queueLimit ? "maximum event size exceeded" : nil
    }

    /// The definitions of the feature flags, of which there are none; servers with a personal key evaluate flags themselves.
    private func definitions(_ request: SimulatedRequest) -> HTTPResponse {
        guard request.fields["Authorization"]?.lowercased().hasPrefix("bearer ") == true else {
            let message = "Authentication credentials were not provided."
            return failure(status: 401, code: "not_authenticated", message: message)
        }
        // Without a token, the personal key says which project.
        if let token = request.query["token"], let refusal = refusal(of: token) { return refusal }
        return HTTPResponse(json: ["flags": [], "group_type_mapping": [:], "cohorts": [:]])
    }

    /// The feature flags of one person, of which there are none.
    private func flags(_ request: SimulatedRequest) -> HTTPResponse {
        guard request.method == "POST" else {
            return failure(
                status: 405,
                code: "method_not_allowed",
                message: "Method \"\(request.method)\" not allowed."
            )
        }
        let body: JSONValue
        do {
            body = try payload(of: request)
        } catch {
            return failure(status: 400, code: "invalid_payload", message: error.message)
        }
        if let refusal = refusal(of: (body["api_key"] ?? body["token"])?.string) { return refusal }
        return HTTPResponse(json: [
            "flags": [:], "featureFlags": [:], "featureFlagPayloads": [:], "errorsWhileComputingFlags": false,
            "requestId": .string(Identifier.uuid()),
        ])
    }

    /// The settings that the browser library fetches by key.
    private func configuration(of key: String) -> HTTPResponse {
        guard credentials.accepts("apiKey", key) else { return HTTPResponse(status: 404) }
        return HTTPResponse(json: ["token": .string(key), "supportedCompression": ["gzip", "gzip-js"]])
    }

    /// Reads the JSON of a request, even if it is compressed without a `Content-Encoding` or wrapped in a form.
    private func payload(of request: SimulatedRequest) throws(Refusal) -> JSONValue {
        let bytes: [UInt8]
        do {
            bytes = try self.bytes(of: request)
        } catch {
            throw Refusal(message: "Malformed gzip data")
        }
        do {
            return try JSONValue(document: bytes)
        } catch {
            throw Refusal(message: "Malformed request data: Invalid JSON")
        }
    }

    /// The bytes of a body, a form or a query, decoded from Base64 and gzip.
    private func bytes(of request: SimulatedRequest) throws(InflateError) -> [UInt8] {
        var bytes = request.body
        let isForm = request.mediaType == "application/x-www-form-urlencoded"
        if let data = isForm
            ? QueryItems(parsing: request.text)["data"] : request.body.isEmpty ? request.query["data"] : nil
        {
            bytes = Base64.bytes(ofFormValue: data) ?? Array(data.utf8)
        }
        guard bytes.starts(with: [0x1F, 0x8B]) else { return bytes }
        return try ContentCoding.gzip.decode(bytes, limit: Self.limit)
    }

    /// The key where the browser library puts it: in the event or among its properties.
    private static func key(of event: JSONValue?) -> JSONValue? {
        event?["api_key"] ?? event?["token"] ?? event?["properties"]?["token"]
    }

    /// The answer to a missing or unknown key; `nil` for a valid one.
    private func refusal(of key: String?) -> HTTPResponse? {
        guard let key = key?.trimmingBlanks(), !key.isEmpty else {
            let message = "API key not provided. You can find your project API key in your PostHog project settings."
            return failure(status: 401, code: "missing_api_key", message: message)
        }
        guard credentials.accepts("apiKey", key) else {
            let message = "Project API key invalid. You can find your project API key in your PostHog project settings."
            return failure(status: 401, code: "invalid_api_key", message: message)
        }
        return nil
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        let type =
            switch status {
            case 401: "authentication_error"
            case 400..<500: "validation_error"
            default: "server_error"
            }
        return HTTPResponse(
            status: status,
            json: [
                "type": .string(type),
                "code": .string(code ?? (status == 429 ? "throttled" : "error")),
                "detail": .string(message ?? HTTPReason.text(of: status)),
                "attr": .null,
            ]
        )
    }
}
