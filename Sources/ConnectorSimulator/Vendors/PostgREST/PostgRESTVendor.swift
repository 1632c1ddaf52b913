// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// PostgREST: tables with rows, and their description at the root.
///
/// The database has the tables that rows were inserted into; they take any columns, and `id` is their key. Any wrong token answers
/// 401; so does a missing one, except for the description. A request for a single row answers 406 and changes nothing if there is
/// no row or more than one. Source: the documentation of PostgREST 12.
package final class PostgRESTVendor: Vendor {
    package static let name = "postgrest"
    package static let demoCredentials = ["token": "eyJhbGciOiJIUzI1NiJ9.eyJyb2xlIjoiZGVtbyJ9.demo"]
    package static let secretKeys = ["token"]

    private static let singular = "application/vnd.pgrst.object"
    /// The items of a query that are not conditions.
    private static let others: Set = ["select", "order", "limit", "offset", "columns", "on_conflict"]

    private let credentials: AcceptedCredentials
    /// The rows by table.
    private let tables = Mutex<[String: [JSONObject]]>([:])

    package init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    package func respond(to request: SimulatedRequest) -> HTTPResponse {
        let token = request.fields["Authorization"]?.split(separator: " ").last.map(String.init)
        guard token == nil || credentials.accepts("token", token) else {
            return failure(status: 401, code: "PGRST301", message: "JWSError JWSInvalidSignature")
        }
        guard let table = request.components.first else {
            return HTTPResponse(json: ["swagger": "2.0", "info": ["title": "PostgREST API"], "paths": [:]])
        }
        guard token != nil else {
            return failure(status: 401, code: "42501", message: "permission denied for table \(table)")
        }
        guard request.components.count == 1 else {
            return failure(status: 404, code: "PGRST125", message: "Invalid path specified in request URL")
        }
        var conditions: [PostgRESTCondition] = []
        for item in request.query.items where !Self.others.contains(item.name) {
            guard let condition = PostgRESTCondition(name: item.name, value: item.value) else {
                let message = "\"failed to parse filter (\(item.value))\" (line 1, column 1)"
                return failure(status: 400, code: "PGRST100", message: message)
            }
            conditions.append(condition)
        }
        let body = request.body.isEmpty ? nil : try? request.json()
        return tables.withLock { tables in
            guard request.method == "POST" || tables[table] != nil else {
                let message = "Could not find the table 'public.\(table)' in the schema cache"
                return failure(status: 404, code: "PGRST205", message: message)
            }
            let isPassed = { (row: JSONObject) in PostgRESTCondition.all(conditions).passes(row) }
            switch request.method {
            case "GET": return select((tables[table] ?? []).filter(isPassed), request)
            case "POST": return insert(body, into: table, &tables, request)
            case "PATCH", "DELETE":
                let changes = request.method == "PATCH" ? body?.object : [:]
                guard let changes else { return noJSON }
                let rows = (tables[table] ?? []).map { row in
                    isPassed(row) && request.method == "PATCH" ? Self.merged(row, changes) : row
                }
                let affected = zip(tables[table] ?? [], rows).filter { isPassed($0.0) }.map(\.1)
                let answer = represented(affected, status: 200, request)
                guard answer.status < 300 else { return answer }
                tables[table] = zip(tables[table] ?? [], rows).compactMap { old, new in
                    isPassed(old) && request.method == "DELETE" ? nil : new
                }
                return answer
            default: return failure(status: 405, code: "PGRST117", message: "Unsupported HTTP method")
            }
        }
    }

    /// The answer to a change whose body is not a JSON document.
    private var noJSON: HTTPResponse { failure(status: 400, code: "PGRST102", message: "Empty or invalid json") }

    private func insert(
        _ body: JSONValue?,
        into table: String,
        _ tables: inout [String: [JSONObject]],
        _ request: SimulatedRequest
    ) -> HTTPResponse {
        guard let body else { return noJSON }
        let merges = request.fields["Prefer"]?.contains("resolution=merge-duplicates") == true
        var (all, made): ([JSONObject], [JSONObject]) = (tables[table] ?? [], [])
        for value in body.array ?? [body] {
            guard var row = value.object else {
                return failure(status: 400, code: "PGRST102", message: "All object keys must match")
            }
            row["id"] = row["id"] ?? .string(Identifier.uuid())
            if let index = all.firstIndex(where: { $0["id"] == row["id"] }) {
                guard merges else {
                    let message = "duplicate key value violates unique constraint \"\(table)_pkey\""
                    return failure(status: 409, code: "23505", message: message)
                }
                row = Self.merged(all.remove(at: index), row)
            }
            all.append(row)
            made.append(row)
        }
        let answer = represented(made, status: 201, request)
        if answer.status < 300 { tables[table] = all }
        return answer
    }

    /// The answer to a query: the rows in its order, from its offset, up to its limit.
    private func select(_ rows: [JSONObject], _ request: SimulatedRequest) -> HTTPResponse {
        var rows = rows
        for part in (request.query["order"] ?? "").split(separator: ",").reversed() {
            let words = part.split(separator: ".").map { $0.filter { $0 != "\"" } }
            guard let column = words.first else { continue }
            let sorted = rows.enumerated().sorted { left, right in
                let (old, new) = (left.element[column] ?? .null, right.element[column] ?? .null)
                let order =
                    old == .null || new == .null
                    ? (old == new ? 0 : old == .null ? -1 : 1)
                    : PostgRESTCondition.order(old, PostgRESTCondition.text(new))
                return order == 0 ? left.offset < right.offset : (order < 0) != words.contains("desc")
            }
            rows = sorted.map(\.element)
        }
        let offset = request.query["offset"].flatMap { Int($0) } ?? 0
        let limit = request.query["limit"].flatMap { Int($0) } ?? .max
        guard offset >= 0, limit >= 0 else {
            return failure(status: 416, code: "PGRST103", message: "Requested range not satisfiable")
        }
        let page = Array(rows.dropFirst(offset).prefix(limit))
        guard request.fields["Accept"]?.contains(Self.singular) != true else {
            return represented(page, status: 200, request)
        }
        let total = request.fields["Prefer"]?.contains("count=exact") == true ? "\(rows.count)" : "*"
        guard total == "*" || offset <= rows.count else {
            return failure(status: 416, code: "PGRST103", message: "Requested range not satisfiable")
        }
        let range = page.isEmpty ? "*" : "\(offset)-\(offset + page.count - 1)"
        let isPart = total != "*" && page.count < rows.count
        var response = HTTPResponse(status: isPart ? 206 : 200, json: .array(page.map { Self.selected($0, request) }))
        response.headers["Content-Range"] = "\(range)/\(total)"
        return response
    }

    /// The rows in the form that the request asks for: one object, an array, or no body.
    private func represented(_ rows: [JSONObject], status: Int, _ request: SimulatedRequest) -> HTTPResponse {
        if request.fields["Accept"]?.contains(Self.singular) == true {
            guard rows.count == 1 else {
                var answer = failure(
                    status: 406,
                    code: "PGRST116",
                    message: "Cannot coerce the result to a single JSON object"
                )
                let details = "The result contains \(rows.count) rows"
                answer.body = Array(answer.text.replacing("\"details\":null", with: "\"details\":\"\(details)\"").utf8)
                return answer
            }
            return HTTPResponse(status: status, json: Self.selected(rows[0], request))
        }
        if request.method != "GET", request.fields["Prefer"]?.contains("return=representation") != true {
            return HTTPResponse(status: status == 200 ? 204 : status)
        }
        return HTTPResponse(status: status, json: .array(rows.map { Self.selected($0, request) }))
    }

    /// The columns of a row that the request selects.
    private static func selected(_ row: JSONObject, _ request: SimulatedRequest) -> JSONValue {
        let names = (request.query["select"] ?? "*").split(separator: ",").map(String.init)
        guard !names.contains("*") else { return .object(row) }
        return .object(JSONObject(names.map { ($0, row[$0] ?? .null) }))
    }

    private static func merged(_ row: JSONObject, _ changes: JSONObject) -> JSONObject {
        changes.members.reduce(into: row) { $0[$1.name] = .some($1.value) }
    }

    package func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        return HTTPResponse(
            status: status,
            json: [
                "code": .string(code ?? (status == 503 ? "PGRST001" : "XX000")), "details": .null, "hint": .null,
                "message": .string(message ?? HTTPReason.text(of: status)),
            ]
        )
    }
}
