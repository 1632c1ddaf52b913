// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import postgrest

/// The adapter of PostgREST.
@Suite struct PostgRESTTests {
    private func postgREST(_ http: ScriptedHTTP, _ more: JSONObject = [:]) throws -> PostgREST {
        var fields: JSONObject = [
            "endpoint": "http://vendor.example", "token": "{{secret:token}}", "idColumn": "id", "versionColumn": "xmin",
        ]
        for member in more.members { fields[member.name] = member.value == .null ? nil : member.value }
        return try PostgREST(configuration: PluginConfiguration(fields), host: .scripted(http))
    }

    private let row = (200, #"{"id":7,"xmin":"99","title":"Milk","note":null}"#)

    /// The condition of a request.
    private func condition(_ request: HTTPRequest) -> String? { request.url.value(of: "and") }

    @Test func `a row is a record without its null columns, its id and its version`() async throws {
        let http = ScriptedHTTP(row)
        let got = try await postgREST(http, ["schema": "shop", "apiKey": "{{secret:apiKey}}"]).get("7", in: "my notes")
        #expect(got == DatabaseRecord(id: "7", version: "99", data: ["title": "Milk"]))
        let request = try #require(http.requests.first)
        #expect(request.method == .get && http.paths == ["/my%20notes"])
        #expect(condition(request) == #"("id".eq."7")"#)
        #expect(request.headers["Accept"] == "application/vnd.pgrst.object+json")
        #expect(request.headers["Authorization"] == "Bearer {{secret:token}}")
        #expect(request.headers["apikey"] == "{{secret:apiKey}}" && request.headers["Accept-Profile"] == "shop")
    }

    @Test func `a new row without the id column is invalid, any other answer without it may be foreign`() async throws {
        for (status, expected) in [(201, PluginStatus.invalid), (200, .protocolViolation)] {
            let http = ScriptedHTTP((status, #"{"key":"a"}"#))
            let error = await #expect(throws: PluginError.self) {
                try await postgREST(http).create(["key": "a"], in: "notes", id: nil)
            }
            #expect(error?.status == expected && error?.isRetryable == (status == 200))
            #expect(error?.message.contains("was stored") == (status == 201))
        }
    }

    @Test func `a row that the server already had is not a new one`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await postgREST(ScriptedHTTP(row)).create(["title": "Oats"], in: "notes", id: nil)
        }
        #expect(error?.status == .protocolViolation && error?.message.contains("HTTP 201") == true)
    }

    @Test func `a change applies only to the version named, and another version is a conflict`() async throws {
        let none = (406, #"{"code":"PGRST116","details":"The result contains 0 rows","message":"Cannot coerce"}"#)
        let http = ScriptedHTTP(none, row, none, none)
        let postgREST = try postgREST(http)
        let late = await #expect(throws: PluginError.self) {
            try await postgREST.update("7", with: ["title": "Oats"], in: "notes", version: "98")
        }
        #expect(late?.status == .conflict)
        #expect(http.requests.map(\.method) == [.patch, .get])
        #expect(condition(http.requests[0]) == #"("id".eq."7","xmin".eq."98")"#)
        #expect(http.requests[0].jsonBody == ["title": "Oats"])
        let gone = await #expect(throws: PluginError.self) {
            try await postgREST.delete("7", in: "notes", version: "98")
        }
        #expect(gone?.status == .notFound)
    }

    @Test func `a replacement sets the other columns to null`() async throws {
        let http = ScriptedHTTP(row, row)
        _ = try await postgREST(http).replace("7", with: ["note": "x"], in: "notes", version: "99")
        #expect(http.requests.map(\.method) == [.get, .patch])
        #expect(http.requests[1].jsonBody == ["note": "x", "title": nil])
        #expect(condition(http.requests[1]) == #"("id".eq."7","xmin".eq."99")"#)
    }

    @Test func `without a column of versions a version is unsupported, and a record with its id is invalid`()
        async throws
    {
        let postgREST = try postgREST(ScriptedHTTP(), ["versionColumn": .null])
        let versioned = await #expect(throws: PluginError.self) {
            try await postgREST.update("7", with: ["a": 1], in: "notes", version: "1")
        }
        #expect(versioned?.status == .unsupported)
        let named = await #expect(throws: PluginError.self) {
            try await postgREST.create(["id": 8], in: "notes", id: nil)
        }
        #expect(named?.status == .invalid && named?.message.contains("\"id\"") == true)
    }

    @Test(arguments: [
        (DatabaseQuery.Filter("a", .equal, "x\"\\y"), #"("a".eq."x\"\\y")"#),
        // To Swift, a quotation mark or a backslash and an accent after it are another character.
        (.init("a\"\u{301}", .equal, "x\"\u{301}\\\u{301}"), "(\"a\\\"\u{301}\".eq.\"x\\\"\u{301}\\\\\u{301}\")"),
        (.init("a", .equal, nil), #"("a".is.null)"#),
        (.init("a", .notEqual, 1), #"(or("a".neq."1","a".is.null))"#),
        (.init("a", .notEqual, nil), #"("a".not.is.null)"#),
        (.init("or", .lessOrEqual, 1.5), #"("or".lte."1.5")"#),
        (.init("a", .greaterOrEqual, true), #"("a".gte."true")"#),
        (.init("a.b", .within, ["x,y", 2]), #"("a.b".in.("x,y","2"))"#),
        // PostgREST takes a list of one empty text for an empty list, and PostgreSQL no 2.0 for an integer.
        (.init("a", .within, [""]), #"("a".eq."")"#), (.init("a", .within, ["", "b"]), #"("a".in.("","b"))"#),
        (.init("a", .within, [2.0, 2.5]), #"("a".in.("2","2.5"))"#), (.init("a", .less, 2.0), #"("a".lt."2")"#),
    ])
    func `filters are a condition, in quotation marks`(_ filter: DatabaseQuery.Filter, _ text: String) async throws {
        let http = ScriptedHTTP((200, "[]"))
        _ = try await postgREST(http).query(DatabaseQuery([filter]), in: "notes")
        #expect(condition(http.requests[0]) == text)
    }

    @Test func `null cannot be compared by order`() async throws {
        let query = DatabaseQuery([.init("a", .less, nil)])
        let error = await #expect(throws: PluginError.self) {
            try await postgREST(ScriptedHTTP()).query(query, in: "n")
        }
        #expect(error?.status == .invalid)
    }

    @Test func `pages follow each other until the total number of rows is reached`() async throws {
        var page = HTTPResponse(status: 206, body: Array(#"[{"id":1},{"id":2}]"#.utf8))
        page.headers["Content-Range"] = "2-3/5"
        var last = HTTPResponse(status: 200, body: Array(#"[{"id":3}]"#.utf8))
        last.headers["Content-Range"] = "4-4/5"
        let gone = HTTPResponse(status: 416, body: Array(#"{"code":"PGRST103","message":"Requested range"}"#.utf8))
        let http = ScriptedHTTP([.response(page), .response(last), .response(gone)])
        let postgREST = try postgREST(http)
        let query = DatabaseQuery(sort: [.init("n", descending: true)], limit: 2, cursor: "2")
        let found = try await postgREST.query(query, in: "notes")
        #expect(found.records.map(\.id) == ["1", "2"] && found.cursor == "4")
        let url = http.requests[0].url
        #expect(url.value(of: "order") == #""n".desc.nullslast,"id""#)
        #expect(url.value(of: "limit") == "2" && url.value(of: "offset") == "2")
        #expect(http.requests[0].headers["Prefer"]?.contains("count=exact") == true)
        #expect(try await postgREST.query(DatabaseQuery(limit: 2, cursor: "4"), in: "notes").cursor == nil)
        // The rows were removed meanwhile.
        let end = try await postgREST.query(DatabaseQuery(limit: 2, cursor: "4"), in: "notes")
        #expect(end.records.isEmpty && end.cursor == nil)
        for cursor in ["-1", "x", "99999999999"] {
            let error = await #expect(throws: PluginError.self) {
                try await postgREST.query(DatabaseQuery(cursor: cursor), in: "notes")
            }
            #expect(error?.status == .invalid)
        }
    }

    @Test(arguments: [
        (409, "23505", PluginStatus.conflict), (409, "23503", .invalid), (400, "22P02", .invalid),
        (404, "PGRST205", .notFound), (401, "PGRST301", .unauthorized), (503, "PGRST001", .unavailable),
        // PostgREST answers 500 to what is the row's or the table's fault for good, too.
        (500, "54000", .invalid), (500, "P0002", .invalid), (500, "21000", .invalid), (500, "55000", .invalid),
        (500, "42P17", .invalid), (500, "38001", .invalid), (404, "42883", .invalid), (405, "25006", .unsupported),
        (500, "40001", .unavailable), (500, "55P03", .unavailable), (503, "53300", .unavailable),
        (503, "57P01", .unavailable), (500, "58030", .unavailable), (500, "57014", .timedOut),
        (500, "XX000", .unavailable), (504, "PGRST003", .timedOut),
    ])
    func `errors have PostgREST's words`(_ status: Int, _ code: String, _ expected: PluginStatus) async throws {
        let http = ScriptedHTTP((status, #"{"code":"\#(code)","message":"words","details":null,"hint":null}"#))
        let error = await #expect(throws: PluginError.self) { try await postgREST(http).create([:], in: "n", id: "7") }
        #expect(error?.status == expected && error?.message == "postgrest answered HTTP \(status): words")
        #expect(error?.isRetryable == (expected == .unavailable || expected == .timedOut))
        #expect(http.requests[0].jsonBody == ["id": "7"])
    }

    @Test(arguments: [
        (409, "23505", #""Key (id)=(7) already exists.""#, "null", "words; Key (id)=(7) already exists."),
        (404, "PGRST205", "null", #""Perhaps you meant 'notes'""#, "words; Perhaps you meant 'notes'"),
        // All values of the row, which are nobody else's business.
        (400, "23502", #""Failing row contains (7, secret).""#, "null", "words"),
        (400, "23514", #""Failing row contains (7, secret).""#, #""hint""#, "words; hint"),
        (400, "PGRST201", #"[{"embedding":"a with b"}]"#, #""hint""#, "words; hint"),
    ])
    func `an error tells details and hint, but no row`(
        _ status: Int,
        _ code: String,
        _ details: String,
        _ hint: String,
        _ words: String
    ) async throws {
        let body = #"{"code":"\#(code)","message":"words","details":\#(details),"hint":\#(hint)}"#
        let postgREST = try postgREST(ScriptedHTTP((status, body)))
        let error = await #expect(throws: PluginError.self) { try await postgREST.create([:], in: "n", id: "7") }
        #expect(error?.message == "postgrest answered HTTP \(status): \(words)")
        #expect(error?.message.contains("secret") == false)
    }

    @Test(arguments: [
        #"{"code":"PGRST116","details":"The result contains 0 rows","message":"Cannot coerce"}"#,
        #"{"code":"PGRST116","message":"Cannot coerce"}"#,
        #"{"details":"Results contain 0 rows, application/vnd.pgrst.object+json requires 1 row","message":"m"}"#,
    ])
    func `a record that is missing is called so`(_ body: String) async throws {
        let postgREST = try postgREST(ScriptedHTTP((406, body)))
        let error = await #expect(throws: PluginError.self) { try await postgREST.get("7", in: "notes") }
        #expect(error?.status == .notFound && error?.message == "there is no such record" && error?.detail == 406)
    }

    @Test(arguments: [
        #"{"code":"PGRST116","details":"The result contains 10 rows","message":"m"}"#,
        #"{"code":"PGRST107","message":"m"}"#,
    ])
    func `another answer with the same status does not say that a record is missing`(_ body: String) async throws {
        let postgREST = try postgREST(ScriptedHTTP((406, body)))
        let error = await #expect(throws: PluginError.self) { try await postgREST.get("7", in: "notes") }
        #expect(error?.status == .failed && error?.message.hasPrefix("postgrest answered HTTP 406: m") == true)
    }

    @Test func `a whole number is written as an integer`() async throws {
        let http = ScriptedHTTP((201, row.1))
        _ = try await postgREST(http).create(["count": 2.0, "share": 2.5], in: "notes", id: nil)
        #expect(http.requests[0].text == #"{"count":2,"share":2.5}"#)
    }

    @Test func `a gateway's 404 does not say that a table or a record is missing`() async throws {
        let pages = ["<html>nothing here</html>", #"{"message":"no Route matched with those values"}"#, ""]
        for page in pages {
            let postgREST = try postgREST(ScriptedHTTP((404, page)))
            let error = await #expect(throws: PluginError.self) { try await postgREST.get("7", in: "notes") }
            #expect(error?.status == .protocolViolation && error?.isRetryable == true)
        }
    }

    @Test(arguments: [
        ("12345678901234567890123", "was stored, is a number, not an id; make it a text"),
        ("null", "was stored, is null, not an id; give the column a default"),
    ])
    func `a new row whose id cannot be one was stored all the same`(_ id: String, _ words: String) async throws {
        let postgREST = try postgREST(ScriptedHTTP((201, #"{"id":\#(id)}"#)))
        let error = await #expect(throws: PluginError.self) { try await postgREST.create([:], in: "notes", id: nil) }
        #expect(error?.status == .invalid && error?.message.contains(words) == true, "\(error?.message ?? "")")
    }

    @Test(arguments: ["PGRST205", "42P01"])
    func `a token is proved where a wrong one is refused, by a request for a table that does not exist`(
        _ code: String
    ) async throws {
        let missing = (404, #"{"code":"\#(code)","message":"Could not find the table"}"#)
        let refused = (401, #"{"code":"PGRST301","message":"JWSError"}"#)
        let http = ScriptedHTTP(missing, refused, missing)
        let supabase: JSONObject = ["endpoint": "https://ref.supabase.co/rest/v1", "apiKey": "{{secret:apiKey}}"]
        let postgREST = try postgREST(http, supabase)
        #expect(try await postgREST.open().map(\.kind) == [.reachable, .authenticated])
        #expect(try await postgREST.probe().map(\.kind) == [.reachable, .authenticated])
        // Supabase shows the description of the API, at the root, to secret keys only.
        #expect(http.paths == Array(repeating: "/rest/v1/connector_host_probe", count: 3))
        let tokens = http.requests.map { $0.headers["Authorization"] }
        #expect(tokens == ["Bearer {{secret:token}}", "Bearer wrong", "Bearer {{secret:token}}"])
        #expect(http.requests.allSatisfy { $0.headers["apikey"] == "{{secret:apiKey}}" })
        #expect(try await self.postgREST(ScriptedHTTP(missing, missing)).open().map(\.kind) == [.reachable])
        let open = try self.postgREST(ScriptedHTTP(missing), ["token": .null])
        #expect(try await open.open().map(\.kind) == [.reachable])
    }

    @Test(arguments: [
        (401, #"{"code":"PGRST301","message":"JWSError"}"#, PluginStatus.unauthorized),
        (401, #"{"message":"Invalid API key","hint":"Double check your API key."}"#, .unauthorized),
        (403, #"{"message":"Access is forbidden."}"#, .unauthorized),
        (404, #"{"code":"PGRST125","message":"Invalid path specified in request URL"}"#, .notFound),
        (404, #"{"error":"requested path is invalid"}"#, .protocolViolation),
        (404, "<html>nothing here</html>", .protocolViolation),
        (200, #"{"swagger":"2.0"}"#, .protocolViolation), (200, "[]", .protocolViolation),
    ])
    func `no other answer opens the gate`(_ status: Int, _ body: String, _ expected: PluginStatus) async throws {
        let error = await #expect(throws: PluginError.self) { try await postgREST(ScriptedHTTP((status, body))).open() }
        #expect(error?.status == expected && error?.detail == Int32(status))
        guard let words = try? JSONValue(parsing: body)["message"]?.string else { return }
        #expect(error?.message.hasPrefix("postgrest answered HTTP \(status): \(words)") == true)
    }
}
