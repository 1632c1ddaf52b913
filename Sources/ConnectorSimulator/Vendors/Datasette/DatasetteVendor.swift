// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// Datasette's JSON API, version 1: a database's tables, their rows, and changes by the owner of a token.
///
/// The database has the tables that rows were inserted into; they take any columns, and `id` is their key. Everyone may read,
/// and the owner of the token may write. A wrong token that looks signed, with the prefix `dstok_`, answers 401; any other wrong
/// token counts as none. Source: Datasette's documentation of the API, and version 1.0a41.
final class DatasetteVendor: Vendor {
    static let name = "datasette"
    static let demoCredentials = ["database": "demo", "token": "dstok_demo"]
    static let secretKeys = ["token"]

    /// The most rows of a page, like Datasette's setting `max_returned_rows`.
    private static let sizeLimit = 1000
    /// The most rows of an insert, like Datasette's setting `max_insert_rows`.
    private static let insertLimit = 100

    private let credentials: AcceptedCredentials
    /// The rows by table.
    private let tables = Mutex<[ExactText: [JSONObject]]>([:])

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        let token = request.fields["Authorization"]?.split(ascii: " ").last.map(String.init)
        let isKnown = credentials.accepts("token", token)
        if let token, !isKnown, token.hasPrefix("dstok_") {
            return failure(status: 401, message: "Invalid token signature")
        }
        var path = request.components.map(Self.decoded)
        if request.method == "GET", let last = path.popLast() {
            guard last.hasSuffix(".json") else {
                return HTTPResponse(text: "<html>Datasette</html>", type: "text/html")
            }
            path.append(String(last.dropLast(5)))
        }
        if path == ["-", "actor"] {
            return HTTPResponse(json: ["ok": true, "actor": isKnown ? ["id": "demo", "token": "dstok"] : .null])
        }
        guard let database = path.first, credentials.accepts("database", database) else {
            return failure(status: 404, message: "Database not found")
        }
        switch (request.method, path.count) {
        case ("GET", 1):
            let names = tables.withLock { $0.keys.sorted() }
            let list = names.map { ["name": .string($0.text)] as JSONValue }
            return HTTPResponse(json: ["ok": true, "database": .string(database), "tables": .array(list)])
        case ("GET", 2): return query(ExactText(path[1]), request.query)
        case ("GET", 3): return row(path[2], in: ExactText(path[1]))
        case ("POST", 4...5) where path[path.count - 2] == "-":
            guard isKnown else { return failure(status: 403, message: "Permission denied") }
            let body = (try? request.json()) ?? .null
            let table = ExactText(path[1])
            return tables.withLock { tables in
                switch (path.last, path.count) {
                case ("insert", 4): insert(body, into: table, &tables)
                case ("update", 5): change(path[2], in: table, &tables, body)
                case ("delete", 5): change(path[2], in: table, &tables, nil)
                default: failure(status: 404)
                }
            }
        default: return failure(status: 404)
        }
    }

    private func insert(
        _ body: JSONValue,
        into table: ExactText,
        _ tables: inout [ExactText: [JSONObject]]
    ) -> HTTPResponse {
        let given: [JSONObject]
        do throws(Refusal) {
            given = try Self.rows(of: body)
        } catch {
            return failure(status: 400, message: error.message)
        }
        var all = tables[table] ?? []
        for value in given {
            var row = value
            row["id"] = row["id"] ?? .string(Identifier.uuid())
            row = Self.stored(row)
            if all.contains(where: { $0["id"] == row["id"] }) {
                return failure(status: 400, message: "UNIQUE constraint failed: \(table.text).id")
            }
            all.append(row)
        }
        tables[table] = all
        let made = all.suffix(given.count).map { JSONValue.object($0) }
        let returns = body["row"] != nil || body["return"] == true
        return HTTPResponse(status: 201, json: returns ? ["ok": true, "rows": .array(made)] : ["ok": true])
    }

    /// The rows of an insert; throws if it has none or too many, or anything that is not known.
    private static func rows(of body: JSONValue) throws(Refusal) -> [JSONObject] {
        guard let members = body.object else { throw Refusal(message: "JSON must be a dictionary") }
        let rows: [JSONObject]
        switch (members["row"], members["rows"]) {
        case (.none, .none): throw Refusal(message: #"JSON must have one or other of "row" or "rows""#)
        case (.some, .some): throw Refusal(message: #"Cannot use "row" and "rows" at the same time"#)
        case (.some(let row), .none):
            guard let object = row.object else { throw Refusal(message: #""row" must be a dictionary"#) }
            rows = [object]
        case (.none, .some(let given)):
            guard let elements = given.array else { throw Refusal(message: #""rows" must be a list"#) }
            rows = elements.compactMap(\.object)
            guard rows.count == elements.count else {
                throw Refusal(message: #""rows" must be a list of dictionaries"#)
            }
        }
        guard rows.count <= insertLimit else {
            throw Refusal(message: "Too many rows, maximum allowed is \(insertLimit)")
        }
        let unknown = members.names.filter { !["row", "rows", "return", "ignore", "replace", "alter"].contains($0) }
        guard unknown.isEmpty else {
            let names = unknown.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw Refusal(message: "Invalid parameter: \(names)")
        }
        guard members["ignore"] != true, members["replace"] != true else {
            throw Refusal(message: "the simulator does not implement ignore and replace")
        }
        return rows
    }

    /// Updates a row as a body says; removes it if there is none.
    private func change(
        _ id: String,
        in table: ExactText,
        _ tables: inout [ExactText: [JSONObject]],
        _ body: JSONValue?
    ) -> HTTPResponse {
        guard var rows = tables[table] else { return failure(status: 404, message: "Table not found") }
        guard let index = rows.firstIndex(where: { ExactText.isSame(Self.text($0["id"]), id) }) else {
            return failure(status: 404, message: "Record not found: ['\(id)']")
        }
        defer { tables[table] = rows }
        guard let body else {
            rows.remove(at: index)
            return HTTPResponse(json: ["ok": true])
        }
        guard let update = body["update"]?.object else {
            return failure(status: 400, message: "JSON must contain an update dictionary")
        }
        let unknown = (body.object?.names ?? []).filter { !["update", "return", "alter"].contains($0) }
        guard unknown.isEmpty else {
            return failure(status: 400, message: "Invalid keys: \(unknown.sorted().joined(separator: ", "))")
        }
        for member in Self.stored(update).members { rows[index][member.name] = .some(member.value) }
        return HTTPResponse(json: body["return"] == true ? ["ok": true, "rows": [.object(rows[index])]] : ["ok": true])
    }

    private func row(_ id: String, in table: ExactText) -> HTTPResponse {
        guard let rows = tables.withLock({ $0[table] }) else { return failure(status: 404, message: "Table not found") }
        guard let row = rows.first(where: { ExactText.isSame(Self.text($0["id"]), id) }) else {
            return failure(status: 404, message: "Row not found")
        }
        return HTTPResponse(json: ["ok": true, "rows": [.object(row)], "truncated": false])
    }

    private func query(_ table: ExactText, _ query: QueryItems) -> HTTPResponse {
        guard var rows = tables.withLock({ $0[table] }) else { return failure(status: 404, message: "Table not found") }
        let size: Int
        switch query["_size"] ?? "" {
        case "": size = 100
        case "max": size = Self.sizeLimit
        case let text:
            guard let number = Int(text), number >= 0 else {
                return failure(status: 400, message: "_size must be a positive integer")
            }
            guard number <= Self.sizeLimit else {
                return failure(status: 400, message: "_size must be <= \(Self.sizeLimit)")
            }
            size = number
        }
        let next = query["_next"] ?? ""
        guard let start = next.isEmpty ? 0 : Int(next), start >= 0 else {
            return failure(status: 400, message: "_next is invalid")
        }
        for item in query.items where !item.name.hasPrefix("_") || item.name.contains("__") {
            let (column, word) = Self.condition(item.name)
            guard Self.words.contains(word) else { continue }
            rows = rows.filter { Self.passes($0[column] ?? .null, word, item.value) }
        }
        if let column = query["_sort"] ?? query["_sort_desc"] {
            rows.sort { Self.order($0[column] ?? .null, $1[column] ?? .null) < 0 }
            if query["_sort_desc"] != nil { rows.reverse() }
        }
        let page = rows.dropFirst(start).prefix(size)
        let hasNext = !page.isEmpty && page.endIndex < rows.endIndex
        return HTTPResponse(json: [
            "ok": true, "next": hasNext ? .string("\(page.endIndex)") : .null,
            "rows": .array(page.map { .object($0) }), "truncated": false,
        ])
    }

    /// The comparisons that this server knows; like Datasette, it ignores a condition with any other.
    private static let words: Set = ["exact", "not", "lt", "lte", "gt", "gte", "in", "isnull", "notnull"]

    /// The column and the comparison in the name of a condition, divided at its last `__`.
    private static func condition(_ name: String) -> (column: String, word: String) {
        let parts = name.split(ascii: "_", omittingEmptySubsequences: false)
        guard let gap = parts.indices.dropFirst().dropLast().last(where: { parts[$0].isEmpty }) else {
            return (name, "exact")
        }
        return (parts[..<gap].joined(separator: "_"), parts[(gap + 1)...].joined(separator: "_"))
    }

    /// Whether a value passes a condition; null passes only `isnull`.
    private static func passes(_ value: JSONValue, _ word: String, _ text: String) -> Bool {
        if word == "isnull" || word == "notnull" { return (value == .null) == (word == "isnull") }
        guard value != .null else { return false }
        func order(to text: String) -> Int {
            Self.order(value, (value.number == nil ? nil : JSONValue.number(in: text)) ?? .string(text))
        }
        switch word {
        case "not": return order(to: text) != 0
        case "lt": return order(to: text) < 0
        case "lte": return order(to: text) <= 0
        case "gt": return order(to: text) > 0
        case "gte": return order(to: text) >= 0
        case "in": return (try? JSONValue(parsing: text))?.array?.contains { order(to: Self.text($0)) == 0 } == true
        default: return order(to: text) == 0
        }
    }

    /// The order of two values in SQLite: null, numbers, then texts by code points.
    private static func order(_ left: JSONValue, _ right: JSONValue) -> Int {
        func rank(_ value: JSONValue) -> Int { value == .null ? 0 : value.number == nil ? 2 : 1 }
        if let order = left.numericOrder(to: right) { return order }
        let order = rank(left).order(to: rank(right))
        return order != 0 ? order : ExactText(text(left)).order(to: ExactText(text(right)))
    }

    /// A row as SQLite keeps it: Booleans as numbers, objects and arrays as text.
    private static func stored(_ row: JSONObject) -> JSONObject {
        JSONObject(
            row.members.map { member in
                switch member.value {
                case .bool(let truth): (member.name, truth ? 1 : 0)
                case .array, .object: (member.name, .string(member.value.serialized()))
                default: (member.name, member.value)
                }
            }
        )
    }

    private static func text(_ value: JSONValue?) -> String { value?.string ?? value?.serialized() ?? "" }

    /// A name without Datasette's tilde encoding, in which `~` and two hexadecimal digits stand for a byte.
    private static func decoded(_ name: String) -> String {
        PercentCoding.decode(name.replacing("%", with: "%25").replacing("~", with: "%"))
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let text = JSONValue.string(message ?? code ?? HTTPReason.text(of: status))
        return HTTPResponse(
            status: status,
            json: ["ok": false, "error": text, "errors": [text], "status": .integer(Int64(status))]
        )
    }
}
