// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import ConnectorPlatform

/// Sentry's ingestion API as Relay serves it: `POST /api/PROJECT/envelope/` and the older `/store/`.
///
/// The public key of the DSN is in `X-Sentry-Auth`, in the query, or in the DSN of the envelope's header. A malformed
/// key is refused with 400, an unknown one with 403. Like Relay, it accepts an envelope without items before it looks
/// up the key, so such an envelope proves nothing about the key. Not served are Relay's other addresses, which take minidumps, security
/// reports, Unreal and network error reports, and OpenTelemetry. Source: Sentry's developer documentation and Relay.
struct SentryVendor: Vendor {
    static let name = "sentry"
    static let demoCredentials = [
        "dsn": "http://0123456789abcdef0123456789abcdef@127.0.0.1/1",
        "publicKey": "0123456789abcdef0123456789abcdef", "project": "1",
    ]
    static let secretKeys = ["publicKey", "dsn"]

    /// The maximum sizes of an event, an encoded request and a decoded request, in bytes.
    private static let limits = (event: 1 << 20, encoded: 20 << 20, decoded: 100 << 20)

    /// The known keys with their projects.
    private var accounts: [(publicKey: String, project: String)] { Self.accounts(of: credentials) }
    let credentials: AcceptedCredentials

    static func secrets(in credentials: AcceptedCredentials) -> [String] {
        credentials.values(of: secretKeys) + accounts(of: credentials).map(\.publicKey)
    }

    static func configuration(baseURL: String) -> [String: String] {
        let key = demoCredentials["publicKey"] ?? ""
        let scheme = baseURL.prefix { $0 != "/" } + "//"
        return ["dsn": "\(scheme)\(key)@\(baseURL.dropFirst(scheme.count))/\(demoCredentials["project"] ?? "")"]
    }

    /// Extracts keys and projects, given separately or as a DSN.
    private static func accounts(of credentials: AcceptedCredentials) -> [(publicKey: String, project: String)] {
        credentials.sets.compactMap { set in
            if let publicKey = set["publicKey"], let project = set["project"] { return (publicKey, project) }
            return set["dsn"].flatMap { account(ofDSN: $0) }
        }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        switch (request.method, path) {
        case ("GET", ["api", "0"]): return HTTPResponse(json: ["version": "0", "auth": nil, "user": nil])
        case ("GET", ["api", "relay", "healthcheck", "live"]), ("GET", ["api", "relay", "healthcheck", "ready"]):
            return HTTPResponse(json: ["is_healthy": true])
        case ("GET", ["_health"]): return HTTPResponse(text: "ok")
        default: break
        }
        guard path.count == 3, path[0] == "api", ["envelope", "store"].contains(path[2]) else {
            return failure(status: 404, message: "not found")
        }
        guard request.method == "POST" else { return HTTPResponse(status: 405, headers: ["Allow": "POST"]) }
        do {
            return try path[2] == "envelope" ? envelope(request, of: path[1]) : store(request, of: path[1])
        } catch {
            let (status, detail, causes) = error.answer
            var body: JSONObject = ["detail": .string(detail)]
            if !causes.isEmpty { body["causes"] = .array(causes.map { .string($0) }) }
            return HTTPResponse(status: status, json: .object(body))
        }
    }

    /// Accepts an envelope.
    private func envelope(_ request: SimulatedRequest, of project: String) throws(SentryFailure) -> HTTPResponse {
        try checkSize(of: request)
        let key = try publicKey(of: request)
        let envelope = try SentryEnvelope(parsing: request.body)
        let dsn = envelope.header["dsn"]?.string.flatMap { Self.account(ofDSN: $0) }
        guard let key = key ?? dsn?.publicKey else { throw .unauthenticated("missing authorization information") }
        if let dsn, dsn.publicKey != key { throw .badRequest("envelope header and request disagree on the DSN") }
        try checkShape(of: key, project: project)
        let event = envelope.items.first { $0.type == "event" || $0.type == "transaction" }
        let sent = envelope.header["event_id"]?.string
        if !envelope.items.isEmpty { try checkAccount(key, project) }
        for item in envelope.items where item.type == "event" {
            guard item.payload.count <= Self.limits.event else {
                throw .tooLarge("envelope exceeded size limits for type 'event'")
            }
            guard let parsed = try? JSONValue(parsing: Array(item.payload)), case .object = parsed else {
                throw .badRequest("invalid JSON data")
            }
        }
        let id = try Self.identifier(
            sent ?? event.flatMap { (try? JSONValue(parsing: Array($0.payload)))?["event_id"]?.string }
        )
        if let id { return HTTPResponse(json: ["id": .string(id)]) }
        return HTTPResponse(json: event == nil ? [:] : ["id": .string(Identifier.uuid().filter { $0 != "-" })])
    }

    /// Accepts one event as plain JSON, as clients sent it before envelopes.
    private func store(_ request: SimulatedRequest, of project: String) throws(SentryFailure) -> HTTPResponse {
        try checkSize(of: request)
        guard let key = try publicKey(of: request) else { throw .unauthenticated("missing authorization information") }
        try checkShape(of: key, project: project)
        guard !request.body.isEmpty else { throw .badRequest("empty request body") }
        let body = Self.json(ofStored: request.body)
        guard body.count <= Self.limits.event else {
            throw .tooLarge("envelope exceeded size limits for type 'event'")
        }
        guard let event = try? JSONValue(parsing: body), case .object = event else {
            throw .badRequest("invalid JSON data")
        }
        try checkAccount(key, project)
        let id = try Self.identifier(event["event_id"]?.string) ?? Identifier.uuid().filter { $0 != "-" }
        return HTTPResponse(json: ["id": .string(id)])
    }

    /// The JSON of a stored event, which old clients encode as Base64, most of them after zlib; `body` if it is neither.
    private static func json(ofStored body: [UInt8]) -> [UInt8] {
        let brace = UInt8(ascii: "{")
        guard body.first != brace, let bytes = Base64.decode(String(decoding: body, as: UTF8.self)) else { return body }
        if bytes.first == brace { return bytes }
        return (try? ContentCoding.deflate.decode(bytes, limit: limits.decoded)) ?? body
    }

    /// Finds the public key in the headers or the query; only one of them may have it.
    private func publicKey(of request: SimulatedRequest) throws(SentryFailure) -> String? {
        var keys: [String] = []
        for name in ["X-Sentry-Auth", "Authorization"] {
            guard let header = request.fields[name], header.lowercased().hasPrefix("sentry ") else { continue }
            let fields = header.dropFirst(7).split(ascii: ",").map { field in
                field.split(ascii: "=", maxSplits: 1).map { $0.trimmingBlanks() }
            }
            if let version = fields.first(where: { $0.first == "sentry_version" })?.last, (Int(version) ?? 8) > 7 {
                throw .badRequest("unsupported protocol version (\(version))")
            }
            guard let key = fields.first(where: { $0.first == "sentry_key" }), key.count == 2 else {
                throw .unauthenticated("bad x-sentry-auth header")
            }
            keys.append(key[1])
        }
        if let key = request.query["sentry_key"] { keys.append(key) }
        guard keys.count < 2 else { throw .unauthenticated("multiple authorization payloads detected") }
        return keys.first
    }

    /// Throws for a malformed key and for a project that is not a number, unless they were configured.
    private func checkShape(of key: String, project: String) throws(SentryFailure) {
        guard Identifier.isHexadecimal(key, count: 32) || accounts.contains(where: { $0.publicKey == key }) else {
            throw .badRequest("bad sentry DSN public key")
        }
        guard UInt64(project) != nil || accounts.contains(where: { $0.project == project }) else {
            throw .badRequest("bad project path parameter")
        }
    }

    /// Throws for a key that is unknown for this project.
    private func checkAccount(_ key: String, _ project: String) throws(SentryFailure) {
        guard accounts.contains(where: { $0.publicKey == key && $0.project == project }) else { throw .rejected }
    }

    /// Throws for a request larger than any item may be.
    private func checkSize(of request: SimulatedRequest) throws(SentryFailure) {
        guard request.encodedBodyCount <= Self.limits.encoded, request.body.count <= Self.limits.decoded else {
            throw .tooLarge("payload reached size limit")
        }
    }

    /// An event's id without hyphens, in lower case.
    private static func identifier(_ text: String?) throws(SentryFailure) -> String? {
        guard let text else { return nil }
        let digits = text.filter { $0 != "-" }.lowercased()
        guard Identifier.isHexadecimal(digits, count: 32) else { throw .badRequest("invalid event id") }
        return digits
    }

    /// Extracts key and project from `scheme://KEY[:SECRET]@HOST/PATH/PROJECT`.
    private static func account(ofDSN dsn: String) -> (publicKey: String, project: String)? {
        guard let scheme = dsn.firstRange(of: "://"), let at = dsn.lastIndex(of: "@"), scheme.upperBound <= at,
            let project = dsn[at...].split(ascii: "/").last, project.first != "@"
        else { return nil }
        let key = dsn[scheme.upperBound..<at].prefix { $0 != ":" }
        return key.isEmpty ? nil : (String(key), String(project))
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 400
        let limited =
            "Sentry dropped data due to a quota or internal rate limit being reached. This will not affect your application."
        let detail = message ?? code ?? (status == 429 ? limited : HTTPReason.text(of: status).lowercased())
        return HTTPResponse(status: status, json: ["detail": .string(detail)])
    }
}
