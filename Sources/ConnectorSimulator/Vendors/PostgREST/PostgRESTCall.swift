// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// A request about the rows of a table.
struct PostgRESTCall {
    /// The request, whose token is valid.
    private let request: SimulatedRequest
    /// The names and values after the `?`.
    private let query: QueryItems
    /// The name of the table.
    private let table: String
    /// What a row must meet to be read, changed or removed.
    private let conditions: PostgRESTCondition
    /// What is answered of a row.
    private let selection: PostgRESTSelection
    /// The order of the rows that are read; nil for that of their arrival.
    private let order: PostgRESTOrder?
    /// The names of the columns to write; nil for all that the body has.
    private let columns: [String]?
    /// The items of the field `Prefer`.
    private let preferences: [String]
    /// Whether the answer is one row.
    private let isSingular: Bool

    /// The items of a query that are not conditions.
    private static let others: Set = ["select", "order", "limit", "offset", "columns", "on_conflict"]

    /// Reads the parameters and fields of a request.
    init(_ request: SimulatedRequest, of table: String) throws(PostgRESTFailure) {
        (self.request, self.table, query) = (request, table, request.query)
        var conditions: [PostgRESTCondition] = []
        for item in query.items where !Self.others.contains(item.name) {
            guard let condition = PostgRESTCondition(name: item.name, value: item.value) else {
                throw .unreadable("filter", item.value)
            }
            conditions.append(condition)
        }
        self.conditions = .all(conditions)
        selection = try PostgRESTSelection(query["select"] ?? "*", of: table)
        order = try query["order"].map { text throws(PostgRESTFailure) in try PostgRESTOrder(text) }
        columns = query["columns"].map { $0.split(ascii: ",").map { $0.filter { $0 != "\"" } } }
        preferences = request.fields.filter { $0.isNamed("Prefer") }
            .flatMap { $0.value.split(ascii: ",").map { $0.trimmingBlanks() } }
        let type = try Self.mediaType(request.fields["Accept"])
        isSingular = type == "application/vnd.pgrst.object"
    }

    /// The first of the media types that the client takes and the server has; throws if there is none.
    private static func mediaType(_ field: String?) throws(PostgRESTFailure) -> String {
        guard let field else { return "*/*" }
        let types: Set = [
            "*/*", "application/*", "application/json", "application/vnd.pgrst.object", "application/vnd.pgrst.array",
        ]
        for item in field.split(ascii: ",") where !item.contains(ascii: "nulls=stripped") {
            let type = item.mediaType
            let name =
                type.starts(ascii: "application/vnd.pgrst") && type.hasSuffix("+json") ? String(type.dropLast(5)) : type
            if types.contains(name) { return name }
        }
        let message = "None of these media types are available: \(field)"
        throw PostgRESTFailure(status: 406, code: "PGRST107", message: message)
    }

    /// Answers the request, and changes the rows of its table.
    func respond(on rows: inout [JSONObject]) throws(PostgRESTFailure) -> HTTPResponse {
        switch request.method {
        case "GET": return try select(from: rows)
        case "POST": return try insert(into: &rows)
        case "PATCH", "DELETE": return try change(&rows)
        default: throw PostgRESTFailure(status: 405, code: "PGRST117", message: "Unsupported HTTP method")
        }
    }

    // MARK: Reading

    /// Answers a page of the rows that meet the conditions.
    private func select(from rows: [JSONObject]) throws(PostgRESTFailure) -> HTTPResponse {
        let found = rows.filter(conditions.passes)
        let range = try range()
        let page = Array((order?.sorted(found) ?? found).dropFirst(range.offset).prefix(range.limit))
        guard !isSingular else { return try represented(page, status: 200) }
        let isCounted = preferences.contains { $0.starts(ascii: "count=") }
        guard !isCounted || range.offset <= found.count else { throw .noRange }
        let shown = page.isEmpty ? "*" : "\(range.offset)-\(range.offset + page.count - 1)"
        var response = HTTPResponse(
            status: isCounted && page.count < found.count ? 206 : 200,
            json: try selected(page)
        )
        response.headers["Content-Range"] = "\(shown)/\(isCounted ? "\(found.count)" : "*")"
        return response
    }

    /// The rows that `offset`, `limit` and the field `Range` agree on.
    private func range() throws(PostgRESTFailure) -> (offset: Int, limit: Int) {
        var (first, last) = (try number("offset") ?? 0, Int.max)
        let limit = try number("limit")
        guard first >= 0, limit ?? 0 >= 0 else { throw .noRange }
        if let limit { last = first.addingReportingOverflow(limit).overflow ? .max : first + limit - 1 }
        let ends = (request.fields["Range"] ?? "").split(ascii: "-", omittingEmptySubsequences: false).map { Int($0) }
        if ends.count == 2, let start = ends[0], start >= 0 {
            guard start <= ends[1] ?? .max else { throw .noRange }
            (first, last) = (max(first, start), min(last, ends[1] ?? .max))
        }
        return (first, last == .max ? .max : max(0, last - first + 1))
    }

    /// The number in a parameter; nil without it.
    private func number(_ name: String) throws(PostgRESTFailure) -> Int? {
        guard let text = query[name] else { return nil }
        guard let number = Int(text) else { throw .unreadable(name, text) }
        return number
    }

    /// What is answered of several rows.
    private func selected(_ rows: [JSONObject]) throws(PostgRESTFailure) -> JSONValue {
        var selected: [JSONValue] = []
        for row in rows { selected.append(try selection.applied(to: row)) }
        return .array(selected)
    }

    /// The rows in the form that the request asks for: one object, an array, or no body.
    private func represented(_ rows: [JSONObject], status: Int) throws(PostgRESTFailure) -> HTTPResponse {
        if isSingular {
            guard rows.count == 1 else {
                throw PostgRESTFailure(
                    status: 406,
                    code: "PGRST116",
                    message: "Cannot coerce the result to a single JSON object",
                    details: "The result contains \(rows.count) rows"
                )
            }
            return HTTPResponse(status: status, json: try selection.applied(to: rows[0]))
        }
        guard request.method == "GET" || preferences.contains("return=representation") else {
            return HTTPResponse(status: status == 200 ? 204 : status)
        }
        return HTTPResponse(status: status, json: try selected(rows))
    }

    // MARK: Writing

    /// The body; throws if it is not JSON.
    private func body() throws(PostgRESTFailure) -> JSONValue {
        guard let body = try? request.json() else { throw .noJSON }
        return body
    }

    /// The columns of an object that are written.
    private func written(_ object: JSONObject) -> JSONObject {
        guard let columns else { return object }
        return JSONObject(columns.map { ($0, object[$0] ?? .null) })
    }

    /// Adds rows; those with an id that is taken are refused, merged or ignored, as the request prefers.
    private func insert(into rows: inout [JSONObject]) throws(PostgRESTFailure) -> HTTPResponse {
        let body = try body()
        let objects = (body.array ?? [body]).compactMap(\.object)
        let keys = Set(objects.map { Set($0.members.map { ExactText($0.name) }) })
        guard objects.count == body.array?.count ?? 1, columns != nil || keys.count <= 1 else { throw .differentKeys }
        if let target = query["on_conflict"], target != "id" {
            let message = "there is no unique or exclusion constraint matching the ON CONFLICT specification"
            throw PostgRESTFailure(status: 400, code: "42P10", message: message)
        }
        var (all, made) = (rows, [JSONObject]())
        for object in objects {
            var row = written(object)
            if row["id"] ?? .null == .null { row["id"] = .string(Identifier.uuid()) }
            if let index = all.firstIndex(where: { $0["id"] == row["id"] }) {
                if preferences.contains("resolution=ignore-duplicates") { continue }
                guard preferences.contains("resolution=merge-duplicates") else {
                    let message = "duplicate key value violates unique constraint \"\(table)_pkey\""
                    throw PostgRESTFailure(status: 409, code: "23505", message: message)
                }
                row = Self.merged(all.remove(at: index), row)
            }
            all.append(row)
            made.append(row)
        }
        let answer = try represented(made, status: 201)
        rows = all
        return answer
    }

    /// Changes or removes the rows that meet the conditions.
    private func change(_ rows: inout [JSONObject]) throws(PostgRESTFailure) -> HTTPResponse {
        guard query["limit"] == nil, query["offset"] == nil else {
            let message = "A 'limit' was applied without an explicit 'order'"
            throw PostgRESTFailure(status: 400, code: "PGRST109", message: message)
        }
        let isRemoval = request.method == "DELETE"
        var changes = JSONObject()
        if !isRemoval {
            guard let object = try body().object else { throw .noJSON }
            changes = written(object)
        }
        var (kept, affected): ([JSONObject], [JSONObject]) = ([], [])
        for row in rows {
            guard conditions.passes(row) else {
                kept.append(row)
                continue
            }
            affected.append(isRemoval ? row : Self.merged(row, changes))
            if !isRemoval, let last = affected.last { kept.append(last) }
        }
        let answer = try represented(affected, status: 200)
        rows = kept
        return answer
    }

    /// A row with changes.
    private static func merged(_ row: JSONObject, _ changes: JSONObject) -> JSONObject {
        changes.members.reduce(into: row) { $0[$1.name] = .some($1.value) }
    }
}
