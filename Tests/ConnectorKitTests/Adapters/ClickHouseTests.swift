// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import clickhouse

/// The adapter of ClickHouse.
@Suite struct ClickHouseTests {
    private static func done(_ status: Int = 200, code: String? = nil, id: String? = "q") -> ScriptedHTTP.Answer {
        var response = HTTPResponse(status: status)
        response.headers["X-ClickHouse-Exception-Code"] = code
        response.headers["X-ClickHouse-Query-Id"] = id
        return .response(response)
    }

    private func clickHouse(_ http: ScriptedHTTP, table: JSONValue = "a`b") throws -> ClickHouse {
        try ClickHouse(
            configuration: PluginConfiguration([
                "endpoint": "http://vendor.example", "database": "shop", "table": table, "username": "ada",
                "password": "{{secret:password}}",
            ]),
            host: .scripted(http)
        )
    }

    @Test func `events are rows of one insert, whose token is the same in every attempt`() async throws {
        let http = ScriptedHTTP([Self.done(503), Self.done()])
        let events = [AnalyticsEvent.track("E", ["a": [1]], userId: "u"), .track("F", userId: "v")]
        #expect(try await clickHouse(http).deliver(events).map(\.outcome) == [.retry, .retry])
        #expect(try await clickHouse(http).deliver(events).map(\.outcome) == [.accepted, .accepted])
        let request = try #require(http.requests.last)
        #expect(request.url == http.requests.first?.url)
        #expect(request.url.value(of: "query") == "INSERT INTO `shop`.`a\\`b` FORMAT JSONEachRow")
        #expect(request.headers["X-ClickHouse-User"] == "ada")
        #expect(request.headers["X-ClickHouse-Key"] == "{{secret:password}}")
        let rows = try request.text.split(separator: "\n").map { try JSONValue(parsing: String($0)) }
        #expect(rows.map { $0["event"] } == ["E", "F"])
        #expect(rows[0]["properties"] == #"{"a":[1]}"# && rows[0]["message_id"] == .string(events[0].messageId))
        let token = ClickHouseRequests.token(of: events.map(\.messageId))
        #expect(request.url.value(of: "insert_deduplication_token") == token)
        #expect(token != ClickHouseRequests.token(of: events.reversed().map(\.messageId)))
    }

    @Test func `an accent does not hide a quotation mark in the name of a table`() async throws {
        let http = ScriptedHTTP([Self.done()])
        let clickHouse = try clickHouse(http, table: "a`\u{301}b\\\u{301}")
        _ = try await clickHouse.deliver([.track("E", userId: "u")])
        let query = try #require(http.requests[0].url.value(of: "query"))
        #expect(query == "INSERT INTO `shop`.`a\\`\u{301}b\\\\\u{301}` FORMAT JSONEachRow")
    }

    @Test(arguments: [
        ("117", 500, PluginStatus.invalid), ("131", 500, .invalid), ("467", 500, .invalid), ("60", 404, .notFound),
        ("497", 500, .unauthorized), ("516", 403, .unauthorized), ("70", 500, .invalid), ("153", 500, .invalid),
        ("321", 500, .invalid), ("395", 500, .invalid), ("117", 200, .invalid),
    ])
    func `ClickHouse's exception code decides, whatever the HTTP status`(
        _ code: String,
        _ status: Int,
        _ kind: PluginStatus
    )
        async throws
    {
        let http = ScriptedHTTP([Self.done(status, code: code)])
        let error = await #expect(throws: PluginError.self) {
            try await clickHouse(http).track(event: ["event": "E", "userId": "u"])
        }
        #expect(error?.status == kind && error?.isRetryable == false)
    }

    @Test func `rows in too many partitions go in smaller inserts, and a table with too many parts is tried again`()
        async throws
    {
        func refused(_ words: String) -> ScriptedHTTP.Answer {
            let headers: HTTPFields = ["X-ClickHouse-Exception-Code": "252", "X-ClickHouse-Query-Id": "q"]
            return .response(HTTPResponse(status: 500, headers: headers, body: Array("Code: 252. \(words)".utf8)))
        }
        let events = [AnalyticsEvent.track("E", userId: "u"), .track("F", userId: "v")]
        let partitions = refused("DB::Exception: Too many partitions for single INSERT block (more than 100).")
        let http = ScriptedHTTP([partitions, Self.done(), Self.done()])
        #expect(try await clickHouse(http).deliver(events).map(\.outcome) == [.accepted, .accepted])
        let parts = refused("DB::Exception: Too many parts (300). Merges are processing significantly slower.")
        #expect(try await clickHouse(ScriptedHTTP([parts])).deliver(events).map(\.outcome) == [.retry, .retry])
    }

    @Test(arguments: ["", String(repeating: "a long name, ", count: 40)])
    func `an exception about one row is about the data, whatever its code is`(_ name: String) async throws {
        let text = "Code: 49. DB::Exception: Unknown element 'x' for type Enum8 of \(name): (at row 6)"
        let headers: HTTPFields = ["X-ClickHouse-Exception-Code": "49", "X-ClickHouse-Query-Id": "q"]
        let http = ScriptedHTTP([.response(HTTPResponse(status: 500, headers: headers, body: Array(text.utf8)))])
        let error = await #expect(throws: PluginError.self) {
            try await clickHouse(http).track(event: ["event": "E", "userId": "u"])
        }
        #expect(error?.status == .invalid && error?.isRetryable == false)
        #expect(error?.message.hasSuffix("(at row 6)") == true)
    }

    /// An answer with status 200 and a text.
    private static func text(_ text: String) -> ScriptedHTTP.Answer {
        .response(HTTPResponse(status: 200, headers: ["X-ClickHouse-Query-Id": "q"], body: Array(text.utf8)))
    }

    @Test(arguments: [
        "Code: 27. DB::Exception: Cannot parse input: (at row 2)\n: While executing ParallelParsingBlockInputFormat.",
        "\r\n__exception__\r\nabc\r\nCode: 117. DB::Exception: bad (at row 2)\r\n50 abc\r\n__exception__\r\n",
        "Code: 395. DB::Exception: Value passed to 'throwIf' function is non-zero: while pushing to view v",
    ])
    func `an exception about a row counts although the answer had begun as a success`(_ words: String) async throws {
        let events = [AnalyticsEvent.track("E", userId: "u"), .track("F", userId: "v")]
        let http = ScriptedHTTP([Self.text(words), Self.done(), Self.text(words)])
        let answers = try await clickHouse(http).deliver(events)
        #expect(answers.map(\.outcome) == [.accepted, .rejected] && http.requests.count == 3)
    }

    @Test func `an exception with status 200, or an answer of another server, is not a delivery`() async throws {
        let memory = "Code: 241. DB::Exception: Memory limit (total) exceeded."
        for (answer, expected, words) in [
            (Self.done(code: "209"), PluginStatus.unavailable, "exception 209"),
            (Self.text(memory), .unavailable, memory), (Self.text("Code: red"), .protocolViolation, "Code: red"),
            (Self.text("Ok."), .protocolViolation, "Ok."), (Self.done(id: nil), .protocolViolation, "between"),
            (Self.done(404, id: nil), .protocolViolation, "gateway"),
        ] as [(ScriptedHTTP.Answer, PluginStatus, String)] {
            let http = ScriptedHTTP([answer])
            let error = await #expect(throws: PluginError.self) {
                try await clickHouse(http).track(event: ["event": "E", "userId": "u"])
            }
            #expect(error?.status == expected && error?.isRetryable == true)
            #expect(error?.message.contains(words) == true)
        }
    }

    @Test func `an old server gets no deduplication tokens, and its errors are read from the text`() async throws {
        func old(_ status: Int, _ text: String = "") -> ScriptedHTTP.Answer {
            let headers: HTTPFields = ["X-ClickHouse-Server-Display-Name": "old"]
            return .response(HTTPResponse(status: status, headers: headers, body: Array(text.utf8)))
        }
        let unknown = old(404, "Code: 115, e.displayText() = DB::Exception: Unknown setting insert_deduplication_token")
        let missing = old(404, "Code: 60, e.displayText() = DB::Exception: Table shop.a doesn't exist.")
        let http = ScriptedHTTP([unknown, old(200), old(401), old(200), missing])
        let clickHouse = try clickHouse(http)
        let evidence = try await clickHouse.open()
        #expect(evidence.map(\.kind) == [.reachable, .authenticated] && evidence[0].detail.contains("too old"))
        #expect(try await clickHouse.deliver([.track("E", userId: "u")]).map(\.outcome) == [.accepted])
        #expect(http.requests.map { $0.url.value(of: "insert_deduplication_token") } == ["probe", nil, nil, nil])
        let error = await #expect(throws: PluginError.self) { try await clickHouse.deliver([.track("E", userId: "u")]) }
        #expect(error?.status == .notFound && error?.isRetryable == false)
    }

    @Test func `credentials are proved when a wrong password is refused`() async throws {
        #expect(
            try await clickHouse(ScriptedHTTP([Self.done(), Self.done(403)])).open().map(\.kind)
                == [.reachable, .authenticated]
        )
        #expect(try await clickHouse(ScriptedHTTP([Self.done(), Self.done()])).open().map(\.kind) == [.reachable])
    }
}
