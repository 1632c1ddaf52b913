// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// Parse Server's REST API under any mount path: classes, events, batches, health and server information.
///
/// The mount path ends before the first component that belongs to the API, so `/parse/classes/Game` and
/// `/v1/api/classes/Game` both work. A wrong application or key is refused with 403 `{"error":"unauthorized"}`; a call
/// that needs the master key, with 403 and a message that says so. A repeated request id is refused with code 159, as
/// with idempotency enabled. The accepted credentials may set the server's option `maxLimit`: no query returns more objects.
/// Source: Parse Server's sources and its REST guide.
final class ParseVendor: Vendor {
    static let name = "parse"
    static let demoCredentials = [
        "applicationId": "demo-app", "clientKey": "demo-client-key", "restApiKey": "demo-rest-key",
        "javascriptKey": "demo-javascript-key", "masterKey": "demo-master-key",
    ]
    static let secretKeys = ["clientKey", "restApiKey", "javascriptKey", "masterKey"]

    /// The components before which the mount path ends.
    private static let roots: Set = [
        "classes", "events", "health", "serverInfo", "batch", "schemas", "users", "login", "config", "functions",
        "installations", "sessions", "roles", "files", "jobs", "push",
    ]
    /// The headers of the keys, with the corresponding configuration keys and body fields.
    private static let keys = [
        (header: "X-Parse-REST-API-Key", key: "restApiKey", field: "_RESTAPIKey"),
        (header: "X-Parse-Client-Key", key: "clientKey", field: "_ClientKey"),
        (header: "X-Parse-Javascript-Key", key: "javascriptKey", field: "_JavaScriptKey"),
    ]

    /// The credentials that the server accepts.
    private let credentials: AcceptedCredentials
    /// The stored objects.
    private let store = Mutex(ParseStore())

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    static func configuration(baseURL: String) -> [String: String] {
        demoCredentials.filter { ["applicationId", "restApiKey"].contains($0.key) }
            .merging(["endpoint": "\(baseURL)/parse"]) { first, _ in first }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let path = request.components
        guard let root = path.firstIndex(where: { Self.roots.contains($0) }) else {
            return HTTPResponse(
                status: 404,
                text: "<pre>Cannot \(request.method) \(request.path)</pre>\n",
                type: "text/html; charset=utf-8"
            )
        }
        if path[root] == "health" { return HTTPResponse(json: ["status": "ok"]) }
        var call = ParseCall(
            method: request.method,
            path: Array(path[root...]),
            mount: "/" + path[..<root].joined(separator: "/"),
            body: JSONObject()
        )
        if !request.body.isEmpty {
            guard let body = (try? request.json())?.object else {
                return HTTPResponse(status: 400, json: ["error": "Unexpected token in JSON"])
            }
            call.body = body
        }
        if call.method == "POST", let method = call.body["_method"]?.string { call.method = method.uppercased() }
        let isMaster: Bool
        switch authorize(request, call.body) {
        case nil: return Self.unauthorized("unauthorized")
        case let rights?: isMaster = rights
        }
        call.query = request.query
        call.maxLimit = credentials.values(of: ["maxLimit"]).compactMap { Int($0) }.filter { $0 > 0 }.min() ?? .max
        for name in call.body.names where name.hasPrefix("_") && name.count > 1 { call.body[name] = nil }
        return answer(call, of: request, isMaster: isMaster)
    }

    /// Whether the credentials include the master key; `nil` if they are invalid.
    private func authorize(_ request: SimulatedRequest, _ body: JSONObject) -> Bool? {
        let application = request.fields["X-Parse-Application-Id"] ?? body["_ApplicationId"]?.string
        let master = request.fields["X-Parse-Master-Key"] ?? body["_MasterKey"]?.string
        for set in credentials.sets {
            guard let application, set["applicationId"] == application else { continue }
            if let master, set["masterKey"] == master { return true }
            let configured = Self.keys.filter { !(set[$0.key] ?? "").isEmpty }
            let matches = configured.contains { key in
                (request.fields[key.header] ?? body[key.field]?.string) == set[key.key]
            }
            if configured.isEmpty || matches { return false }
        }
        return nil
    }

    /// Answers a call with valid credentials.
    private func answer(_ call: ParseCall, of request: SimulatedRequest, isMaster: Bool) -> HTTPResponse {
        switch call.path.first {
        case "serverInfo":
            guard isMaster else { return Self.unauthorized("unauthorized: master key is required") }
            return HTTPResponse(json: [
                "features": ["schemas": ["addField": true, "removeField": true]], "parseServerVersion": "8.2.0",
            ])
        case "schemas", "jobs", "push":
            guard isMaster else { return Self.unauthorized("unauthorized: master key is required") }
            return HTTPResponse(json: ["results": []])
        case "config": return HTTPResponse(json: ["params": [:]])
        default: break
        }
        do {
            return try store.withLock { store throws(ParseFailure) in
                if let id = request.fields["X-Parse-Request-Id"], ["POST", "PUT"].contains(call.method) {
                    guard store.remember(id) else { throw ParseFailure(code: 159, message: "Duplicate request") }
                }
                let (status, document) = try call.run(on: &store, now: request.receivedAt)
                var response = HTTPResponse(status: status, json: document)
                if status == 201, let id = document["objectId"]?.string {
                    let mount = call.mount == "/" ? "" : call.mount
                    let path = call.path.map { PercentCoding.encode($0) }.joined(separator: "/")
                    response.headers["Location"] = "\(request.baseURL)\(mount)/\(path)/\(id)"
                }
                return response
            }
        } catch {
            return error.response
        }
    }

    /// The answer to wrong credentials.
    private static func unauthorized(_ message: String) -> HTTPResponse {
        HTTPResponse(status: 403, json: ["error": .string(message)])
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        if let code, let number = Int64(code) {
            let failure = ParseFailure(code: number, message: message ?? "Simulated error \(number)")
            var response = failure.response
            if let status { response.status = status }
            return response
        }
        let status = status ?? 500
        if status >= 500 {
            return HTTPResponse(status: status, json: ["code": 1, "message": "Internal server error."])
        }
        if status == 429 {
            return HTTPResponse(status: 429, json: ["code": 100, "error": "Too many requests."])
        }
        return HTTPResponse(status: status, json: ["error": .string(message ?? HTTPReason.text(of: status))])
    }
}
