// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// InfluxDB 1.x: `/write` and `/api/v2/write` with the line protocol, `/query` with InfluxQL, and `/ping`.
///
/// The databases named by the accepted credentials exist from the start. Credentials are required only if some are
/// configured with a user name, as on a real server with `auth-enabled`. Written points can be queried with the most
/// common parts of InfluxQL; the others are refused. Source: the documentation of InfluxDB 1.8 and its `services/httpd`.
final class InfluxDBVendor: Vendor {
    static let name = "influxdb"
    static let demoCredentials = ["database": "demo"]
    static let secretKeys = ["password"]

    /// The credentials that the server accepts.
    private let credentials: AcceptedCredentials
    /// The databases by name.
    private let databases: Mutex<[ExactText: InfluxDatabase]>

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
        databases = Mutex([:])
        for set in credentials.sets { prepare(for: set) }
    }

    func prepare(for set: [String: String]) {
        guard let name = set["database"], !name.isEmpty else { return }
        databases.withLock { $0[ExactText(name)] = $0[ExactText(name)] ?? InfluxDatabase() }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        var response: HTTPResponse
        switch (request.method, request.components) {
        case ("GET", ["ping"]), ("POST", ["ping"]): response = ping(request)
        case ("GET", ["health"]):
            response = HTTPResponse(json: [
                "checks": [], "message": "ready for queries and writes", "name": "influxdb", "status": "pass",
                "version": .string(Self.version),
            ])
        case ("POST", ["write"]):
            let (query, name) = (request.query, request.query["db"] ?? "")
            response = refusal(of: request) ?? write(request, to: name, query["rp"], precision: query["precision"])
        case ("POST", ["api", "v2", "write"]): response = refusal(of: request) ?? writeToBucket(request)
        case ("GET", ["query"]), ("POST", ["query"]): response = refusal(of: request) ?? query(request)
        case (_, ["write"]), (_, ["query"]), (_, ["api", "v2", "write"]):
            response = HTTPResponse(status: 405, text: "Method Not Allowed\n")
        default: response = HTTPResponse(status: 404, text: "404 page not found\n")
        }
        response.headers["X-Influxdb-Version"] = Self.version
        response.headers["X-Influxdb-Build"] = "OSS"
        return response
    }

    /// The version that this server reports.
    private static let version = "1.8.10"

    /// Answers a ping; with `verbose`, includes the version.
    private func ping(_ request: SimulatedRequest) -> HTTPResponse {
        guard let verbose = request.query["verbose"], verbose != "", verbose != "0", verbose != "false" else {
            return HTTPResponse(status: 204)
        }
        return HTTPResponse(json: ["version": .string(Self.version)])
    }

    /// The answer to wrong or missing credentials; `nil` if they are valid or not required.
    private func refusal(of request: SimulatedRequest) -> HTTPResponse? {
        guard credentials.requires("username") else { return nil }
        let form = parameters(of: request)
        var given = request.basicCredentials
        if given == nil, let header = request.fields["Authorization"], header.lowercased().hasPrefix("token ") {
            let parts = header.dropFirst(6).split(ascii: ":", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { given = (String(parts[0]), String(parts[1])) }
        }
        if let username = form("u") { given = (username, form("p") ?? "") }
        guard let given else { return unauthorized("unable to parse authentication credentials") }
        guard credentials.accepts(["username": given.username, "password": given.password]) else {
            return unauthorized("authorization failed")
        }
        return nil
    }

    /// The answer to an unknown user.
    private func unauthorized(_ message: String) -> HTTPResponse {
        var response = failure(status: 401, message: message)
        response.headers["WWW-Authenticate"] = "Basic realm=\"InfluxDB\""
        return response
    }

    /// Returns a function that looks up a parameter in the query, then in a form body.
    private func parameters(of request: SimulatedRequest) -> (String) -> String? {
        let isForm = request.mediaType == "application/x-www-form-urlencoded" && request.components == ["query"]
        let form = isForm ? QueryItems(parsing: request.text) : QueryItems()
        let query = request.query
        return { query[$0] ?? form[$0] }
    }

    /// Stores points that a version 2 client writes; its bucket is `database/policy` or a database.
    private func writeToBucket(_ request: SimulatedRequest) -> HTTPResponse {
        let (bucket, precision) = (request.query["bucket"] ?? "", request.query["precision"] ?? "")
        guard ["", "ns", "us", "ms", "s"].contains(precision) else {
            return failure(status: 400, message: "invalid precision \"\(precision)\" (use ns, us, ms or s)")
        }
        let end = bucket.utf8.firstIndex(of: UInt8(ascii: "/")) ?? bucket.endIndex
        guard end > bucket.startIndex else {
            let message = "bucket name \"\(bucket)\" is missing a slash; not in \"database/retention-policy\" format"
            return failure(status: 404, message: message)
        }
        let policy = String(Substring(bucket.utf8[end...].dropFirst()))
        return write(request, to: String(bucket[..<end]), policy, precision: precision)
    }

    /// Stores points; valid lines are stored even if others are rejected.
    private func write(
        _ request: SimulatedRequest,
        to name: String,
        _ policy: String?,
        precision: String?
    ) -> HTTPResponse {
        guard !name.isEmpty else {
            return failure(status: 400, message: "database is required")
        }
        return databases.withLock { databases in
            let exactName = ExactText(name)
            guard var database = databases[exactName] else {
                return failure(status: 404, message: "database not found: \"\(name)\"")
            }
            // Only one policy exists; InfluxDB answers 500 for any other.
            if let policy, !policy.isEmpty, policy != InfluxDatabase.retentionPolicy {
                return failure(status: 500, message: "retention policy not found: \(policy)")
            }
            let consistency = request.query["consistency"] ?? ""
            guard ["", "any", "one", "quorum", "all"].contains(consistency) else {
                return failure(status: 400, message: "invalid consistency level")
            }
            let (points, failures) = LineProtocol.parse(request.text, precision: precision)
            var dropped: [String] = []
            databases[exactName] = nil
            for var point in points {
                point.time = point.time ?? Int64(clamping: request.receivedAt.nanoseconds)
                if let reason = database.insert(point) { dropped.append(reason) }
            }
            databases[exactName] = database
            if dropped.contains(InfluxDatabase.fullness) {
                return failure(status: 500, message: InfluxDatabase.fullness)
            }
            if !failures.isEmpty {
                let text = failures.map(\.message).joined(separator: "\n")
                return failure(status: 400, message: points.isEmpty ? text : "partial write: \(text) dropped=0")
            }
            guard let first = dropped.first else { return HTTPResponse(status: 204) }
            return failure(status: 400, message: "partial write: \(first) dropped=\(dropped.count)")
        }
    }

    /// Answers InfluxQL.
    private func query(_ request: SimulatedRequest) -> HTTPResponse {
        let form = parameters(of: request)
        guard let text = form("q"), !text.trimmingBlanks().isEmpty else {
            return failure(status: 400, message: "missing required parameter \"q\"")
        }
        var values = JSONObject()
        if let given = form("params") {
            guard let parsed = try? JSONValue(parsing: given), let object = parsed.object else {
                return failure(status: 400, message: "error parsing query parameters: invalid JSON")
            }
            values = object
        }
        do {
            let statements = try InfluxQLParser.parse(text, parameters: values, now: request.receivedAt)
            let context = InfluxQLContext(
                database: ExactText(form("db") ?? ""),
                epoch: form("epoch").flatMap { $0.isEmpty ? nil : LineProtocol.unit(of: $0) },
                isReadOnly: request.method == "GET"
            )
            let results = databases.withLock { context.run(statements, on: &$0) }
            var response = HTTPResponse(json: ["results": .array(results)])
            response.body.append(UInt8(ascii: "\n"))
            return response
        } catch {
            return failure(status: 400, message: "error parsing query: \(error.message)")
        }
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = message ?? code ?? (status >= 500 ? "timeout" : HTTPReason.text(of: status).lowercased())
        var response = HTTPResponse(status: status, json: ["error": .string(text)])
        response.headers["X-Influxdb-Error"] = text.contains("\n") ? nil : text
        return response
    }
}
