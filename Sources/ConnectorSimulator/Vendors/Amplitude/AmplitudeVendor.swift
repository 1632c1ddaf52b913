// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Amplitude's HTTP API, version 2: `POST /2/httpapi`, and `/batch`, which differs only in its limits.
///
/// The project's key is in the body; an unknown one is refused with 400, in a message that quotes it. The vendor takes all
/// events of a request or none: the answer lists the indices of those that lack a field, have one of the wrong type, or have
/// an id shorter than `min_id_length`, which is 5 unless the request's options say otherwise. A fault with `code=throttled`
/// answers 429 and names the first event.
///
/// The forms of `/identify` and `/groupidentify`, and those that older clients post to `/httpapi` and `/`, need only the key and JSON;
/// the answer is a word. Source: Amplitude's documentation of the API and its client libraries.
struct AmplitudeVendor: Vendor {
    static let name = "amplitude"
    static let demoCredentials = ["apiKey": "0123456789abcdef0123456789abcdef"]
    static let secretKeys = ["apiKey"]

    /// The most bytes and events of a request.
    private static let limits = ["2/httpapi": (bytes: 1 << 20, events: 2000), "batch": (bytes: 20 << 20, events: 2000)]
    /// The paths that take forms, and the items that have the key and the JSON.
    private static let forms = [
        "": (key: "client", content: "e"), "httpapi": (key: "api_key", content: "event"),
        "identify": (key: "api_key", content: "identification"),
        "groupidentify": (key: "api_key", content: "identification"),
    ]
    /// The types of an event's members.
    private static let types: [(name: String, fits: @Sendable (JSONValue) -> Bool)] = [
        ("time", { $0.integer != nil }), ("insert_id", { $0.string != nil }), ("event_type", { $0.string != nil }),
        ("event_properties", { $0.object != nil }), ("user_properties", { $0.object != nil }),
        ("group_properties", { $0.object != nil }), ("groups", { $0.object != nil }),
    ]

    /// The keys that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components.joined(separator: "/")
        if let form = Self.forms[path] { return respond(to: request, key: form.key, content: form.content) }
        guard let limits = Self.limits[path] else { return failure(status: 404) }
        guard request.method == "POST" else { return failure(status: 405) }
        guard request.body.count <= limits.bytes else { return failure(status: 413) }
        guard let body = try? request.json(), body.object != nil else {
            return failure(status: 400, message: "Invalid JSON request body")
        }
        guard let key = body["api_key"]?.string, !key.isEmpty else { return missing("api_key") }
        guard credentials.accepts("apiKey", key) else {
            return failure(status: 400, message: "Invalid API key: \(key)")
        }
        guard let events = body["events"]?.array, !events.isEmpty else { return missing("events") }
        guard events.count <= limits.events else { return failure(status: 413) }
        let refused = Self.faults(of: events, minIdLength: body["options"]?["min_id_length"]?.integer ?? 5)
        guard refused.isEmpty else {
            var answer: JSONObject = ["code": 400, "error": "Request missing required field"]
            for member in refused.members { answer[member.name] = member.value }
            return HTTPResponse(status: 400, json: .object(answer))
        }
        return HTTPResponse(json: [
            "code": 200, "events_ingested": .integer(Int64(events.count)),
            "payload_size_bytes": .integer(Int64(request.body.count)),
            "server_upload_time": .integer(request.receivedAt.milliseconds),
        ])
    }

    /// Answers a form with a word.
    private func respond(to request: SimulatedRequest, key: String, content: String) -> HTTPResponse {
        guard request.method == "POST" else { return failure(status: 405) }
        let items = request.parameters
        guard credentials.accepts("apiKey", items[key]) else {
            return HTTPResponse(status: 400, text: items[key] == nil ? "missing_\(key)" : "invalid_api_key")
        }
        guard let text = items[content] else { return HTTPResponse(status: 400, text: "missing_\(content)") }
        let isJSON = (try? JSONValue(parsing: text)).map { $0.array != nil || $0.object != nil } ?? false
        return isJSON ? HTTPResponse(text: "success") : HTTPResponse(status: 400, text: "invalid_\(content)")
    }

    /// The indices of the faulty events, by the kind of fault and the member.
    private static func faults(of events: [JSONValue], minIdLength: Int64) -> JSONObject {
        var faults: [String: [String: [Int]]] = [:]
        for (index, event) in events.enumerated() {
            func note(_ kind: String, _ member: String) {
                faults[kind, default: [:]][member, default: []].append(index)
            }
            if event["event_type"] == nil { note("events_with_missing_fields", "event_type") }
            let ids = ["user_id", "device_id"].filter { event[$0] != nil && event[$0] != .null }
            if ids.isEmpty { note("events_with_missing_fields", "user_id") }
            for id in ids where (event[id]?.string ?? "").count < minIdLength {
                note("events_with_invalid_id_lengths", id)
            }
            for (name, fits) in types {
                if let value = event[name], value != .null, !fits(value) { note("events_with_invalid_fields", name) }
            }
        }
        return JSONObject(
            faults.sorted { $0.key < $1.key }.map { kind, members in
                let places = members.sorted { $0.key < $1.key }.map { member, indices in
                    (member, JSONValue.array(indices.map { .integer(Int64($0)) }))
                }
                return (kind, .object(JSONObject(places)))
            }
        )
    }

    private func missing(_ field: String) -> HTTPResponse {
        let answer: JSONValue = [
            "code": 400, "error": "Request missing required field", "missing_field": .string(field),
        ]
        return HTTPResponse(status: 400, json: answer)
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let isThrottled = code == "throttled"
        let status = status ?? (isThrottled ? 429 : 400)
        let text =
            switch status {
            case 413: "Payload too large"
            case 429: "Too many requests for some devices and users"
            default: HTTPReason.text(of: status)
            }
        var answer: JSONObject = [
            "code": .integer(Int64(status)), "error": .string(message ?? (isThrottled ? nil : code) ?? text),
        ]
        if isThrottled {
            answer["eps_threshold"] = 30
            answer["throttled_events"] = [0]
        }
        return HTTPResponse(status: status, json: .object(answer))
    }
}
