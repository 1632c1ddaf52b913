// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to PostgREST, and the answers that mean success.
struct PostgRESTRequests {
    /// A table that no database has, and the answers to a request for it: PostgREST's own and, in older versions, PostgreSQL's.
    static let missingName = "connector_host_probe"
    static let missing = answer(
        404...404,
        .object(#"with "code": "PGRST205""#) { $0["code"] == "PGRST205" || $0["code"] == "42P01" }
    )
    /// The answers to a new row, to a request for one row, and to a query: all rows, or part of them.
    static let created = answer(201...201, .object("of a row") { _ in true })
    static let row = answer(200...200, .object("of a row") { _ in true })
    static let rows = answer(200...206, .array("of rows") { $0.object != nil })

    private let endpoint: HTTPURL
    private let headers: HTTPFields
    private let columns: TableColumns

    init(_ configuration: PluginConfiguration, _ columns: TableColumns) throws(PluginError) {
        self.columns = columns
        endpoint = try configuration.url("endpoint")
        var headers: HTTPFields = ["Prefer": "return=representation,count=exact"]
        headers["Authorization"] = configuration.optionalSecret("token").map { "Bearer \($0)" }
        headers["apikey"] = configuration.optionalSecret("apiKey")?.text
        for name in ["Accept-Profile", "Content-Profile"] { headers[name] = configuration.optionalString("schema") }
        self.headers = headers
    }

    /// Whether requests carry a token.
    var hasToken: Bool { headers["Authorization"] != nil }

    /// A request for a table that does not exist, with the role's token unless another one is given.
    func missingTable(token: String? = nil) -> HTTPRequest {
        var request = HTTPRequest(.get, endpoint.appending(Self.missingName), headers: headers)
        if let token { request.headers["Authorization"] = "Bearer \(token)" }
        return request
    }

    func insert(_ row: JSONObject, into table: String) -> HTTPRequest { one(.post, endpoint.appending(table), row) }

    /// A request that reads a row, changes it or, if `changes` is nil, removes it, provided that it has a given version.
    func row(_ id: String, in table: String, version: String? = nil, changes: JSONObject? = [:]) throws -> HTTPRequest {
        let url = endpoint.appending(table).with("and", try condition(columns.filters(id: id, version: version)))
        return one(changes.map { $0.isEmpty ? .get : .patch } ?? .delete, url, changes ?? [:])
    }

    func query(_ query: DatabaseQuery, offset: Int, in table: String) throws -> HTTPRequest {
        let order = query.sort.map { Self.quoted($0.field) + ($0.isDescending ? ".desc.nullslast" : ".asc.nullsfirst") }
        let url = endpoint.appending(table)
            .with("and", query.filters.isEmpty ? nil : try condition(query.filters))
            .with("order", (order + [Self.quoted(columns.id)]).joined(separator: ","))
            .with("limit", "\(query.limit)").with("offset", "\(offset)")
        return HTTPRequest(.get, url, headers: headers)
    }

    /// A request whose answer is exactly one row; the server refuses if there are none or several.
    private func one(_ method: HTTPRequest.Method, _ url: HTTPURL, _ changes: JSONObject) -> HTTPRequest {
        var request = HTTPRequest(method, url, headers: headers)
        request.headers["Accept"] = "application/vnd.pgrst.object+json"
        guard method == .post || method == .patch else { return request }
        request.headers["Content-Type"] = "application/json"
        request.body = JSONValue.object(changes).utf8()
        return request
    }

    /// All filters as one condition. Quoting distinguishes names and values from reserved words and characters.
    private func condition(_ filters: [DatabaseQuery.Filter]) throws -> String {
        let conditions = try filters.map { filter in
            let (name, values) = (Self.quoted(filter.field), try columns.texts(of: filter).map(Self.quoted))
            let word = filter.comparison.rawValue
            return switch filter.comparison {
            case .equal where values.isEmpty: "\(name).is.null"
            case .notEqual where values.isEmpty: "\(name).not.is.null"
            // In SQL, null is neither equal to a value nor different.
            case .notEqual: "or(\(name).neq.\(values[0]),\(name).is.null)"
            // PostgREST takes a list of one empty text for an empty list.
            case .within where values.count != 1: "\(name).in.(\(values.joined(separator: ",")))"
            default: "\(name).\(["le": "lte", "ge": "gte", "in": "eq"][word] ?? word).\(values[0])"
            }
        }
        return "(\(conditions.joined(separator: ",")))"
    }

    /// An answer of PostgREST, whose refusals have codes, unlike those of a gateway before it.
    private static func answer(_ statuses: ClosedRange<Int>, _ form: VendorAnswer.Form) -> VendorAnswer {
        VendorAnswer("postgrest", statuses: statuses, [form], isMissing: { (try? $0.json())?["code"]?.string != nil })
    }

    private static func quoted(_ text: String) -> String { "\"" + text.escaping("\"", "\\") + "\"" }
}
