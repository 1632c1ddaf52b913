// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import datasette

/// The adapter of Datasette.
@Suite struct DatasetteTests {
    private func datasette(_ http: ScriptedHTTP, token: Bool = true) throws -> Datasette {
        var fields: JSONObject = ["endpoint": "http://vendor.example/", "database": "shop", "idColumn": "id"]
        if token { fields["token"] = "{{secret:token}}" }
        return try Datasette(configuration: PluginConfiguration(fields), host: .scripted(http))
    }

    private static let row = (200, #"{"ok":true,"rows":[{"id":7,"title":"Milk","note":null}],"truncated":false}"#)

    private static func failure(_ status: Int, _ words: String) -> (Int, String) {
        (status, #"{"ok":false,"error":"\#(words)","errors":["\#(words)"],"status":\#(status)}"#)
    }

    @Test func `a row is a record, and names stand in Datasette's own coding`() async throws {
        let http = ScriptedHTTP(Self.row)
        let got = try await datasette(http).get("a/é", in: "odd name.x")
        #expect(got == DatabaseRecord(id: "7", version: nil, data: ["title": "Milk"]))
        #expect(http.paths == ["/shop/odd~20name~2Ex/a~2F~C3~A9.json"])
        #expect(http.requests[0].headers["Authorization"] == "Bearer {{secret:token}}")
    }

    @Test func `changes are posted, and answered with the row`() async throws {
        let made = (201, Self.row.1)
        let http = ScriptedHTTP(made, Self.row, Self.row, Self.row, (200, #"{"ok":true}"#))
        let datasette = try datasette(http)
        _ = try await datasette.create(["title": "Milk"], in: "notes", id: "7")
        _ = try await datasette.update("7", with: ["note": "x"], in: "notes", version: nil)
        _ = try await datasette.replace("7", with: ["note": "x"], in: "notes", version: nil)
        try await datasette.delete("7", in: "notes", version: nil)
        #expect(
            http.paths == [
                "/shop/notes/-/insert", "/shop/notes/7/-/update", "/shop/notes/7.json", "/shop/notes/7/-/update",
                "/shop/notes/7/-/delete",
            ]
        )
        #expect(http.requests[0].jsonBody == ["row": ["title": "Milk", "id": "7"], "return": true])
        #expect(http.requests[1].jsonBody == ["update": ["note": "x"], "return": true])
        #expect(http.requests[3].jsonBody == ["update": ["note": "x", "title": nil], "return": true])
    }

    @Test func `versions are unsupported, and a new row without an id is an error`() async throws {
        let datasette = try datasette(ScriptedHTTP((201, #"{"ok":true,"rows":[{"id":null,"title":"Milk"}]}"#)))
        for change in 0..<3 {
            let error = await #expect(throws: PluginError.self) {
                switch change {
                case 0: _ = try await datasette.update("7", with: [:], in: "notes", version: "1")
                case 1: _ = try await datasette.replace("7", with: [:], in: "notes", version: "1")
                default: try await datasette.delete("7", in: "notes", version: "1")
                }
            }
            #expect(error?.status == .unsupported)
        }
        let error = await #expect(throws: PluginError.self) {
            try await datasette.create(["title": "Milk"], in: "notes", id: nil)
        }
        #expect(error?.status == .invalid && error?.isRetryable == false)
        #expect(error?.message.contains("give the column a default") == true)
    }

    @Test func `a table without the id column is invalid, and repeating the call does not help`() async throws {
        let row = #"{"ok":true,"rows":[{"key":"a"}],"next":null}"#
        let datasette = try datasette(ScriptedHTTP((201, row), (200, row), (200, row), (200, row)))
        for call in 0..<4 {
            let error = await #expect(throws: PluginError.self) {
                switch call {
                case 0: _ = try await datasette.create(["key": "a"], in: "notes", id: nil)
                case 1: _ = try await datasette.get("a", in: "notes")
                case 2: _ = try await datasette.update("a", with: [:], in: "notes", version: nil)
                default: _ = try await datasette.query(DatabaseQuery(), in: "notes")
                }
            }
            #expect(error?.status == .invalid && error?.isRetryable == false)
            #expect(error?.message.contains("has no column \"id\"; set idColumn") == true)
            #expect(error?.message.contains("was stored") == (call == 0))
        }
    }

    @Test(arguments: [
        (DatabaseQuery.Filter("a", .equal, "x"), "a__exact", "x"), (.init("a", .equal, nil), "a__isnull", "1"),
        (.init("a__b", .notEqual, true), "a__b__not", "1"), (.init("a", .notEqual, nil), "a__notnull", "1"),
        (.init("_a", .less, 1.5), "_a__lt", "1.5"), (.init("a", .lessOrEqual, 1), "a__lte", "1"),
        (.init("a", .greater, 1), "a__gt", "1"), (.init("a", .greaterOrEqual, 1), "a__gte", "1"),
        (.init("a", .within, ["x,y", 2]), "a__in", #"["x,y","2"]"#),
    ])
    func `filters are items of the query`(_ filter: DatabaseQuery.Filter, _ name: String, _ value: String) async throws
    {
        let http = ScriptedHTTP((200, #"{"ok":true,"rows":[],"next":null}"#))
        _ = try await datasette(http).query(DatabaseQuery([filter]), in: "notes")
        #expect(http.requests[0].url.value(of: name) == value)
    }

    @Test func `pages follow each other, ordered by at most one column`() async throws {
        let http = ScriptedHTTP((200, #"{"ok":true,"rows":[{"id":1,"n":2}],"next":"2,1"}"#))
        let query = DatabaseQuery(sort: [.init("n", descending: true)], limit: 1, cursor: "3,4")
        let found = try await datasette(http).query(query, in: "notes")
        #expect(found.records.map(\.id) == ["1"] && found.cursor == "2,1")
        let url = http.requests[0].url
        #expect(url.value(of: "_sort_desc") == "n" && url.value(of: "_size") == "1" && url.value(of: "_next") == "3,4")
        let two = DatabaseQuery(sort: [.init("n"), .init("m")])
        let error = await #expect(throws: PluginError.self) { try await datasette(ScriptedHTTP()).query(two, in: "n") }
        #expect(error?.status == .unsupported)
    }

    @Test func `a page that leads back to itself is an error`() async throws {
        let http = ScriptedHTTP((200, #"{"ok":true,"rows":[{"id":1}],"next":"b,1"}"#))
        let query = DatabaseQuery(sort: [.init("v")], limit: 1, cursor: "b,1")
        let error = await #expect(throws: PluginError.self) { try await datasette(http).query(query, in: "notes") }
        #expect(error?.status == .failed && error?.isRetryable == false)
    }

    @Test func `a column that does not exist is invalid, though SQLite takes it for a text`() async throws {
        let http = ScriptedHTTP((200, #"{"ok":true,"rows":[{"id":1}],"next":null}"#))
        let query = DatabaseQuery([.init("nocol", .notEqual, "x")])
        let error = await #expect(throws: PluginError.self) { try await datasette(http).query(query, in: "notes") }
        #expect(error?.status == .invalid && error?.message.contains("nocol") == true)
    }

    @Test(arguments: [
        (400, "UNIQUE constraint failed: notes.id", PluginStatus.conflict),
        (400, "Row 0 has invalid columns: x", .invalid),
        (403, "Permission denied", .unauthorized), (404, "Table not found", .notFound),
        // Datasette answers 400 whatever SQLite says.
        (400, "database is locked", .unavailable), (400, "database table is locked: notes", .unavailable),
        (400, "disk I/O error", .unavailable), (400, "database or disk is full", .unavailable),
        (400, "attempt to write a readonly database", .unavailable), (400, "no such column: x", .invalid),
    ])
    func `errors have Datasette's words`(_ status: Int, _ words: String, _ expected: PluginStatus) async throws {
        let http = ScriptedHTTP(Self.failure(status, words))
        let error = await #expect(throws: PluginError.self) { try await datasette(http).create([:], in: "n", id: "7") }
        #expect(error?.status == expected && error?.message == "datasette answered HTTP \(status): \(words)")
        #expect(error?.isRetryable == (expected == .unavailable))
    }

    @Test func `an error of older versions has its words`() async throws {
        let old = (404, #"{"ok":false,"error":"Row not found","status":404,"title":null}"#)
        let missing = await #expect(throws: PluginError.self) {
            try await datasette(ScriptedHTTP(old)).get("7", in: "notes")
        }
        #expect(missing?.status == .notFound && missing?.message == "datasette answered HTTP 404: Row not found")
    }

    @Test(arguments: [
        (400, #"{"ok":false,"error":"<p>SQL query took too long. …</p>","status":400,"title":"SQL Interrupted"}"#),
        (400, #"{"ok":false,"error":"e","errors":["SQL query took too long. The time limit is …"],"status":400}"#),
        (500, #"{"ok":false,"error":"QueryInterrupted: interrupted","status":500,"title":null}"#),
    ])
    func `a query that takes too long is late, whatever the version`(_ status: Int, _ body: String) async throws {
        let datasette = try datasette(ScriptedHTTP((status, body)))
        let error = await #expect(throws: PluginError.self) { try await datasette.query(DatabaseQuery(), in: "notes") }
        #expect(error?.status == .timedOut && error?.isRetryable == true)
        #expect(error?.message.contains("sql_time_limit_ms") == true)
    }

    @Test func `a server with shorter pages is asked for its longest`() async throws {
        let http = ScriptedHTTP(
            Self.failure(400, "_size must be <= 100"),
            (200, #"{"ok":true,"rows":[{"id":1}],"next":"1"}"#)
        )
        let page = try await datasette(http).query(DatabaseQuery(limit: 500), in: "notes")
        #expect(page.records.map(\.id) == ["1"] && page.cursor == "1")
        #expect(http.requests.map { $0.url.value(of: "_size") } == ["500", "max"])
    }

    @Test func `a gateway's 404 does not say that a record is missing`() async throws {
        for page in ["<html>nothing here</html>", #"{"message":"no Route matched with those values"}"#, ""] {
            for isRemoval in [false, true] {
                let datasette = try datasette(ScriptedHTTP((404, page)))
                let error = await #expect(throws: PluginError.self) {
                    if isRemoval {
                        try await datasette.delete("7", in: "notes", version: nil)
                    } else {
                        _ = try await datasette.get("7", in: "notes")
                    }
                }
                #expect(error?.status == .protocolViolation && error?.isRetryable == true)
            }
        }
    }

    @Test func `a replacement changes nothing if the table has no id column`() async throws {
        let http = ScriptedHTTP((200, #"{"ok":true,"rows":[{"key":"a"}]}"#))
        let error = await #expect(throws: PluginError.self) {
            try await datasette(http).replace("a", with: ["b": 1], in: "notes", version: nil)
        }
        #expect(error?.status == .invalid && http.requests.count == 1)
    }

    @Test func `a token is proved by its actor, and no other answer proves it`() async throws {
        let database = (200, #"{"ok":true,"database":"shop","tables":[]}"#)
        let known = (200, #"{"ok":true,"actor":{"id":"root","token":"dstok"}}"#)
        #expect(try await datasette(ScriptedHTTP(database, known)).open().map(\.kind) == [.reachable, .authenticated])
        #expect(try await datasette(ScriptedHTTP(database), token: false).open().map(\.kind) == [.reachable])
        let unknown = (200, #"{"ok":true,"actor":null}"#)
        for answer in [unknown, Self.failure(401, "Invalid token signature")] {
            let error = await #expect(throws: PluginError.self) {
                try await datasette(ScriptedHTTP(database, answer)).open()
            }
            #expect(error?.status == .unauthorized)
        }
    }
}
