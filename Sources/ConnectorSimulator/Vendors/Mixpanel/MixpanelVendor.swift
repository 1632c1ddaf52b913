// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Mixpanel's ingestion API: `POST /import` with an array of events, `/track`, and `/engage` and `/groups` with profiles.
///
/// All four also take the parameter `data` that most clients send, in a form or in the query of a `GET`: JSON, or the Base64 of it. An
/// import also takes JSON by lines (`application/x-ndjson`).
///
/// An import needs the project's token, as the user name of Basic authentication or as `api_key`, or a service account that the
/// credentials name. With `strict=1`, it answers 400 with the indices of the events that it refuses, and takes the others. The other
/// endpoints, and an import of `data`, take any token, as the real ones do, and answer 1 or 0 or, with `verbose=1`, an object. Source:
/// Mixpanel's documentation of the API and its clients.
struct MixpanelVendor: Vendor {
    static let name = "mixpanel"
    static let demoCredentials = ["token": "0123456789abcdef0123456789abcdef"]
    static let secretKeys = ["token", "secret"]

    /// The most bytes of a request and of an event, and the most records in a request.
    private static let limits = (bytes: 2_097_152, event: 1_000_000, count: 2000)

    /// The tokens that the vendor accepts.
    let credentials: AcceptedCredentials

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        guard let name = request.components.first, request.components.count == 1,
            ["import", "track", "engage", "groups"].contains(name)
        else { return failure(status: 404) }
        let parameters = request.parameters
        let data = parameters["data"]
        guard request.method == "POST" || data != nil else { return failure(status: 405) }
        if name == "import", !mayImport(request, apiKey: parameters["api_key"]) {
            return failure(status: 401, message: "Invalid credentials")
        }
        guard request.body.count <= Self.limits.bytes else {
            return failure(status: 413, message: "request exceeds max limit of \(Self.limits.bytes) bytes")
        }
        guard let items = Self.items(in: request, data: data) else {
            return failure(status: 400, message: "request body is not valid JSON")
        }
        guard items.count <= Self.limits.count else {
            return failure(status: 400, message: "request exceeds max limit of \(Self.limits.count) records")
        }
        guard name == "import", data == nil else {
            let problem = items.lazy.compactMap { Self.problem(of: $0, in: name) }.first
            guard parameters["verbose"] == "1" else { return HTTPResponse(text: problem == nil ? "1" : "0") }
            return HTTPResponse(json: [
                "status": problem == nil ? 1 : 0, "error": problem.map { .string($0) } ?? .null,
            ])
        }
        return imported(items, isStrict: request.query["strict"] == "1")
    }

    /// Whether a request may import: it has the project's token, or the name and the secret of a service account.
    private func mayImport(_ request: SimulatedRequest, apiKey: String?) -> Bool {
        if credentials.accepts("token", apiKey) { return true }
        guard let (username, secret) = request.basicCredentials else { return false }
        return credentials.accepts("token", username)
            || credentials.accepts(["username": username, "secret": secret])
    }

    /// The records of a request; nil if they cannot be read.
    private static func items(in request: SimulatedRequest, data: String?) -> [JSONValue]? {
        if data == nil, request.mediaType == "application/x-ndjson" {
            let lines = request.body.split(separator: UInt8(ascii: "\n"))
            return try? lines.map { try JSONValue(parsing: Array($0)) }
        }
        var body = try? JSONValue(parsing: data ?? request.text)
        if body == nil, let bytes = data.flatMap({ Base64.bytes(ofFormValue: $0) }) {
            body = try? JSONValue(parsing: bytes)
        }
        return body.map { $0.array ?? [$0] }
    }

    private func imported(_ events: [JSONValue], isStrict: Bool) -> HTTPResponse {
        let failed = events.enumerated().flatMap { index, event -> [JSONValue] in
            guard let (field, message) = Self.fault(in: event) else { return [] }
            let insertId = event["properties"]?["$insert_id"] ?? ""
            return [
                [
                    "index": .integer(Int64(index)), "$insert_id": insertId, "field": .string(field),
                    "message": .string(message),
                ]
            ]
        }
        let count = JSONValue.integer(Int64(events.count - failed.count))
        guard isStrict, !failed.isEmpty else {
            return HTTPResponse(json: ["code": 200, "num_records_imported": count, "status": "OK"])
        }
        return HTTPResponse(
            status: 400,
            json: [
                "code": 400, "error": "some data points in the request failed validation",
                "failed_records": .array(failed), "num_records_imported": count, "status": "Bad Request",
            ]
        )
    }

    /// Why an import refuses an event; nil if it takes the event.
    private static func fault(in event: JSONValue) -> (field: String, message: String)? {
        guard let name = event["event"]?.string, !name.isEmpty, name.utf8.count <= 255 else {
            return ("event", "'event' must be a string of 1 to 255 bytes")
        }
        guard let properties = event["properties"]?.object else {
            return ("properties", "'properties' must be an object")
        }
        guard let time = properties["time"]?.number, time > 0 else {
            return ("properties.time", "'properties.time' is invalid: must be specified as seconds since epoch")
        }
        guard properties["distinct_id"]?.string != nil else {
            return ("properties.distinct_id", "'properties.distinct_id' is invalid: must be a string")
        }
        let id = properties["$insert_id"]?.string ?? ""
        guard 1...36 ~= id.utf8.count, id.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
        else {
            return ("properties.$insert_id", "'properties.$insert_id' is invalid: must be 1 to 36 of a-z, 0-9 and -")
        }
        guard properties.members.count <= 255 else { return ("properties", "'properties' has more than 255 members") }
        return event.utf8().count > limits.event ? ("event", "the event exceeds \(limits.event) bytes") : nil
    }

    /// Why `/track`, `/engage`, `/groups` or an import with form data refuses a record; nil if it takes the record.
    private static func problem(of thing: JSONValue, in name: String) -> String? {
        switch name {
        case "import", "track":
            if thing["event"]?.string == nil { return "event, missing or empty" }
            return thing["properties"]?["token"]?.string == nil ? "token, missing or empty" : nil
        default:
            if thing["$token"]?.string?.isEmpty != false { return "$token, missing or empty" }
            let id = name == "engage" ? "$distinct_id" : "$group_id"
            return thing[id]?.string?.isEmpty != false ? "\(id), missing or empty" : nil
        }
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        let text =
            status == 429 ? "Project exceeded rate limits. Please retry the request with exponential backoff." : nil
        let word = HTTPReason.text(of: status)
        return HTTPResponse(
            status: status,
            json: [
                "code": .integer(Int64(status)), "error": .string(message ?? text ?? code ?? word),
                "status": .string(word),
            ]
        )
    }
}
