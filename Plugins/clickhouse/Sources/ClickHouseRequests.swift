// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to ClickHouse.
struct ClickHouseRequests {
    /// ClickHouse has no such limits, and prefers few large inserts. Within these, an insert is one block, as its token
    /// requires.
    static let limits = BatchDelivery(itemBytes: 1 << 20, batchBytes: 4 << 20, batchCount: 10_000)

    /// ClickHouse answers 200 without a body to an insert, and to a query without rows.
    static let done = VendorAnswer("clickhouse", [.empty], isRefusal: isOwn, isMissing: isOwn)
    /// Whether ClickHouse, and not a gateway before it, refuses a request.
    private static let isOwn: @Sendable (HTTPResponse) -> Bool = { ClickHouseRequests.code(of: $0) != nil }

    /// ClickHouse's error code. Only the text has it (`Code: 60, e.displayText() = …`) if the exception came after the headers, or from a
    /// server before version 20. Since version 25, such a text may follow `__exception__` and a tag.
    static func code(of answer: HTTPResponse) -> String? {
        if let code = answer.headers["X-ClickHouse-Exception-Code"] { return code }
        var words = answer.excerpt.split(separator: " ")[...]
        if words.first == "__exception__" { words = words.dropFirst(2) }
        guard words.popFirst() == "Code:" else { return nil }
        let digits = words.first?.prefix { $0.isNumber } ?? ""
        return digits.isEmpty ? nil : String(digits)
    }

    let endpoint: HTTPURL
    let database: String
    let table: String
    let username: String
    let password: SecretPlaceholder?

    /// A query of the table that returns no rows.
    ///
    /// - Parameter token: An insert token, which only a server that knows such tokens accepts.
    func emptyQuery(token: String? = nil, hasWrongPassword: Bool = false) -> HTTPRequest {
        let url = endpoint.with("insert_deduplication_token", token)
        var request = request("SELECT 1 FROM \(target) LIMIT 0", url: url, body: [])
        if hasWrongPassword { request.headers["X-ClickHouse-Key"] = "wrong" }
        return request
    }

    /// An insert of rows.
    ///
    /// - Parameter token: The insert's identity: of two inserts with the same token, the table keeps one if it is replicated or has a
    ///   `non_replicated_deduplication_window`. Nil for none.
    func insert(_ rows: [[UInt8]], token: String?) -> HTTPRequest {
        var body: [UInt8] = []
        body.append(rows, separator: UInt8(ascii: "\n"))
        let url = endpoint.with("input_format_skip_unknown_fields", "1").with("date_time_input_format", "best_effort")
            .with("insert_deduplication_token", token)
        var request = request("INSERT INTO \(target) FORMAT JSONEachRow", url: url, body: body)
        request.isCompressed = true
        return request
    }

    /// A row, with a column for each member that the event has.
    static func row(_ event: AnalyticsEvent, now: Timestamp) -> [UInt8] {
        var row: JSONObject = [
            "message_id": .string(event.messageId), "timestamp": .string("\(event.timestamp ?? now)"),
            "type": .string(event.type.rawValue),
        ]
        let texts = [
            ("event", event.event), ("name", event.name), ("category", event.category), ("user_id", event.userId),
            ("anonymous_id", event.anonymousId), ("group_id", event.groupId), ("previous_id", event.previousId),
        ]
        for (name, text) in texts { if let text { row[name] = .string(text) } }
        for (name, object) in [("properties", event.properties), ("traits", event.traits), ("context", event.context)]
        where !object.isEmpty {
            row[name] = .string(JSONValue.object(object).serialized())
        }
        return JSONValue.object(row).utf8()
    }

    /// The identity of an insert, the same for the same events in the same order: their number, the first id, and the FNV-1a hash of all
    /// ids.
    static func token(of ids: [String]) -> String {
        let hash = ids.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { hash, id in
            (Array(id.utf8) + [0]).reduce(hash) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        }
        return "\(ids.count)-\(ids.first ?? "")-\(String(hash, radix: 16))"
    }

    /// The table, quoted.
    private var target: String { "\(Self.quoted(database)).\(Self.quoted(table))" }

    private static func quoted(_ name: String) -> String {
        "`" + name.escaping("`", "\\") + "`"
    }

    private func request(_ query: String, url: HTTPURL, body: [UInt8]) -> HTTPRequest {
        var headers: HTTPFields = ["X-ClickHouse-User": username]
        if let password { headers["X-ClickHouse-Key"] = password.text }
        return HTTPRequest(.post, url.with("query", query), headers: headers, body: body)
    }
}
