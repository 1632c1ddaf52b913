// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to Datasette, and the answers that mean success.
struct DatasetteRequests {
    /// The answer to a request for the description of the database.
    static let database = VendorAnswer("datasette", [.object(#"with "tables""#) { $0["tables"]?.array != nil }])
    /// The answer to the question who owns the token.
    static let actor = VendorAnswer("datasette", [.object(#"with "actor""#) { $0["actor"] != nil }])
    /// The answer to a deletion.
    static let done = VendorAnswer("datasette", [.object(#"with "ok": true"#) { $0["ok"] == true }], isMissing: isOwn)
    /// An answer with rows, or with one row.
    static let rows = VendorAnswer(
        "datasette",
        statuses: 200...201,
        [.object(#"with "ok": true and "rows""#) { $0["ok"] == true && ($0["rows"] ?? $0["row"]) != nil }],
        isMissing: isOwn
    )
    /// Whether Datasette, and not a gateway before it, says that something is missing.
    private static let isOwn: @Sendable (HTTPResponse) -> Bool = { (try? $0.json())?["ok"] == false }
    private static let suffixes: [DatabaseQuery.Comparison: String] = [
        .equal: "exact", .notEqual: "not", .less: "lt", .lessOrEqual: "lte", .greater: "gt", .greaterOrEqual: "gte",
    ]

    /// The database's name.
    let name: String
    private let endpoint: HTTPURL
    private let headers: HTTPFields
    private let columns: TableColumns

    init(_ configuration: PluginConfiguration, _ columns: TableColumns) throws(PluginError) {
        self.columns = columns
        endpoint = try configuration.url("endpoint")
        name = try configuration.string("database")
        headers = configuration.optionalSecret("token").map { ["Authorization": "Bearer \($0)"] } ?? [:]
    }

    /// Whether requests carry a token.
    var hasToken: Bool { headers["Authorization"] != nil }

    /// A request for the description of the database.
    var database: HTTPRequest { HTTPRequest(.get, endpoint.appending(Self.coded(name) + ".json"), headers: headers) }

    /// A request for the owner of the token.
    var actor: HTTPRequest { HTTPRequest(.get, endpoint.appending(path: "/-/actor.json"), headers: headers) }

    func insert(_ row: JSONObject, into table: String) -> HTTPRequest {
        HTTPRequest(.post, url(table, "-", "insert"), headers: headers, json: ["row": .object(row), "return": true])
    }

    func row(_ id: String, in table: String) -> HTTPRequest {
        HTTPRequest(.get, url(table, Self.coded(id) + ".json").with("_shape", "objects"), headers: headers)
    }

    func update(_ id: String, _ changes: JSONObject, in table: String) -> HTTPRequest {
        let url = url(table, Self.coded(id), "-", "update")
        return HTTPRequest(.post, url, headers: headers, json: ["update": .object(changes), "return": true])
    }

    func delete(_ id: String, in table: String) -> HTTPRequest {
        HTTPRequest(.post, url(table, Self.coded(id), "-", "delete"), headers: headers, json: [:])
    }

    /// - Throws: `unsupported` for a sort by several columns, which Datasette cannot do.
    func query(_ query: DatabaseQuery, size: String? = nil, in table: String) throws(PluginError) -> HTTPRequest {
        var url = endpoint.appending(Self.coded(name), Self.coded(table) + ".json").with("_shape", "objects")
            .with("_size", size ?? "\(query.limit)").with("_next", query.cursor)
        for filter in query.filters {
            let texts = try columns.texts(of: filter, hasNumericBooleans: true)
            let list = JSONValue.array(texts.map { .string($0) }).serialized()
            let suffix = Self.suffixes[filter.comparison] ?? "in"
            let isNull = filter.comparison == .equal ? "isnull" : "notnull"
            url = url.with(
                "\(filter.field)__\(texts.isEmpty ? isNull : suffix)",
                suffix == "in" ? list : texts.first ?? "1"
            )
        }
        guard query.sort.count < 2 else {
            throw PluginError(.unsupported, "Datasette sorts by one column only", domain: "datasette")
        }
        if let order = query.sort.first { url = url.with(order.isDescending ? "_sort_desc" : "_sort", order.field) }
        return HTTPRequest(.get, url, headers: headers)
    }

    private func url(_ segments: String...) -> HTTPURL {
        segments.dropFirst().reduce(endpoint.appending(Self.coded(name), Self.coded(segments[0]))) { $0.appending($1) }
    }

    /// A name in Datasette's own encoding, where `~` and two hexadecimal digits stand for any byte but a letter, digit,
    /// `-` or `_`.
    private static func coded(_ name: String) -> String {
        name.utf8.map { byte in
            guard !byte.isWordCharacter, byte != UInt8(ascii: "-") else { return String(UnicodeScalar(byte)) }
            return "~" + byte.hexadecimal(uppercase: true)
        }.joined()
    }
}
