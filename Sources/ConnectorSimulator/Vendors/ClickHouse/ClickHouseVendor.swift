// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// ClickHouse's HTTP interface: `/ping`, inserts of lines of JSON, and queries for all rows of a table.
///
/// It also answers what clickhouse-connect asks first: the version, the time zone, and the settings, of which it has none.
///
/// The tables named by the accepted credentials exist from the start, and take any columns. Of two inserts with the same
/// `insert_deduplication_token`, the second is dropped. One line that is not an object fails the whole insert. Any other statement is
/// refused as not implemented. Source: the documentation of ClickHouse 24 and its `HTTPHandler`.
final class ClickHouseVendor: Vendor {
    static let name = "clickhouse"
    static let demoCredentials = [
        "database": "default", "table": "events", "username": "default", "password": "demo-password",
    ]
    static let secretKeys = ["password"]

    private struct Table {
        var rows: [JSONValue] = []
        var tokens: Set<String> = []
    }

    private let credentials: AcceptedCredentials
    /// The tables by database and name.
    private let tables: Mutex<[[String]: Table]>

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
        tables = Mutex([:])
        for set in credentials.sets { prepare(for: set) }
    }

    func prepare(for set: [String: String]) {
        guard let table = set["table"] else { return }
        let name = [set["database"] ?? "default", table]
        tables.withLock { $0[name] = $0[name] ?? Table() }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        if request.path == "/ping" || request.path == "/" && request.query["query"] == nil && request.body.isEmpty {
            return HTTPResponse(text: "Ok.\n")
        }
        guard request.path == "/" else { return failure(status: 404, message: "There is no handle \(request.path)") }
        let (user, basic) = (request.fields["X-ClickHouse-User"], request.basicCredentials)
        let username = user ?? basic?.username ?? request.query["user"] ?? "default"
        let password = request.fields["X-ClickHouse-Key"] ?? basic?.password ?? request.query["password"] ?? ""
        guard credentials.sets.contains(where: { $0["username"] == username && ($0["password"] ?? "") == password })
        else {
            let message =
                "\(username): Authentication failed: password is incorrect, or there is no user with such name."
            return failure(status: 403, code: "516", message: message)
        }
        let query = request.query["query"] ?? request.text
        let words = query.utf8.split(whereSeparator: \.isWhitespace).map { String(Substring($0)) }
        var response: HTTPResponse
        switch words.first?.uppercased() {
        case "SELECT" where words == ["SELECT", "1"]: response = HTTPResponse(text: "1\n")
        case "SELECT" where words == ["SELECT", "version(),", "timezone()"]:
            response = HTTPResponse(text: "24.8.14.39\tUTC\n")
        // In every format of rows, the binary one included, no rows are no bytes.
        case "SELECT" where words.contains("system.settings"): response = HTTPResponse(status: 200)
        case "SELECT" where words.count >= 4 && words[2] == "FROM":
            response = select(from: words[3], isEmpty: words.suffix(2) == ["LIMIT", "0"])
        case "INSERT" where request.method == "GET":
            let message =
                "\(username): Cannot execute query in readonly mode. For queries over HTTP, method GET implies readonly."
                + " You should use method POST for modifying queries"
            response = failure(status: 500, code: "164", message: message)
        case "INSERT" where words.count >= 5 && words[3...4] == ["FORMAT", "JSONEachRow"]:
            // The rows follow the statement, or are in the body, or both.
            let parts = query.utf8.split(maxSplits: 5, whereSeparator: \.isWhitespace)
            let body = request.query["query"] == nil ? [] : [UInt8(ascii: "\n")] + request.body
            response = insert(parts.dropFirst(5).flatMap { Array($0) } + body, request, into: words[2])
        default:
            let message = "The simulator does not implement the statement \"\(query.excerpt)\" (NOT_IMPLEMENTED)"
            response = failure(status: 501, code: "48", message: message)
        }
        response.headers["X-ClickHouse-Query-Id"] = Identifier.uuid()
        response.headers["X-ClickHouse-Server-Display-Name"] = "simulator"
        return response
    }

    private func insert(_ lines: [UInt8], _ request: SimulatedRequest, into name: String) -> HTTPResponse {
        var rows: [JSONValue] = []
        for (index, line) in lines.split(separator: UInt8(ascii: "\n")).enumerated() {
            guard let row = try? JSONValue(parsing: Array(line)), row.object != nil else {
                let message = "Cannot parse input: expected '{' (at row \(index + 1))"
                return failure(status: 400, code: "27", message: message)
            }
            rows.append(row)
        }
        let token = request.query["insert_deduplication_token"]
        return tables.withLock { tables in
            guard var table = tables[Self.path(name)] else { return unknown(name) }
            if token.map({ table.tokens.insert($0).inserted }) ?? true { table.rows += rows }
            tables[Self.path(name)] = table
            return HTTPResponse(status: 200)
        }
    }

    private func select(from name: String, isEmpty: Bool) -> HTTPResponse {
        guard let table = tables.withLock({ $0[Self.path(name)] }) else { return unknown(name) }
        guard !isEmpty else { return HTTPResponse(status: 200) }
        return HTTPResponse(text: table.rows.map { $0.serialized() + "\n" }.joined())
    }

    private func unknown(_ name: String) -> HTTPResponse {
        failure(status: 404, code: "60", message: "Table \(Self.path(name).joined(separator: ".")) does not exist.")
    }

    /// The database and the table, without backquotes.
    private static func path(_ name: String) -> [String] {
        let parts = name.filter { $0 != "`" }.split(ascii: ".", maxSplits: 1).map(String.init)
        return parts.count == 1 ? ["default"] + parts : parts
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let (status, code) = (status ?? 500, code ?? "1000")
        var response = HTTPResponse(
            status: status,
            text: "Code: \(code). DB::Exception: \(message ?? HTTPReason.text(of: status))\n"
        )
        response.headers["X-ClickHouse-Exception-Code"] = code
        return response
    }
}
