// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import parse

/// The adapter of Parse Server.
@Suite struct ParseTests {
    private func parse(
        _ http: some HTTPService,
        launch: JSONValue? = nil,
        launches: ParseLaunches = ParseLaunches()
    ) throws -> Parse {
        var fields: JSONObject = [
            "endpoint": "http://vendor.example/parse", "applicationId": "app", "clientKey": "{{secret:clientKey}}",
        ]
        fields["launch"] = launch
        let host = Host(http: http, clock: StoppedClock())
        return try Parse(configuration: PluginConfiguration(fields), host: host, launches: launches)
    }

    @Test func `the first operation reports the launch, opening and probing do not`() async throws {
        let http = ScriptedHTTP((200, params), (200, params), (200, "{}"), (200, object), (200, object))
        let parse = try parse(http, launch: ["pushHash": "h"])
        #expect(try await parse.open().map(\.kind) == [.authenticated])
        #expect(try await parse.probe().map(\.kind) == [.authenticated])
        #expect(http.paths == ["/parse/config", "/parse/config"])
        _ = try await parse.get("o", in: "C")
        _ = try await parse.get("o", in: "C")
        #expect(http.paths.dropFirst(2) == ["/parse/events/AppOpened", "/parse/classes/C/o", "/parse/classes/C/o"])
        #expect(
            http.requests[2].jsonBody
                == ["at": ["__type": "Date", "iso": "2026-01-31T09:30:00.000Z"], "push_hash": "h"]
        )
    }

    @Test func `a server that counts no launches gets no report`() async throws {
        let http = ScriptedHTTP((200, object))
        _ = try await parse(http).get("o", in: "C")
        #expect(http.paths == ["/parse/classes/C/o"])
    }

    @Test func `instances of one application report its launch once, also when they start together`() async throws {
        let launches = ParseLaunches()
        let answer = ScriptedHTTP.Answer.response(HTTPResponse(status: 200, body: Array(object.utf8)))
        let http = ScriptedHTTP(Array(repeating: answer, count: 30))
        try await withThrowingTaskGroup { group in
            for _ in 0..<10 {
                let parse = try parse(http, launch: [:], launches: launches)
                group.addTask { _ = try await parse.get("o", in: "C") }
            }
            try await group.waitForAll()
        }
        #expect(http.paths.count { $0 == "/parse/events/AppOpened" } == 1)
    }

    @Test func `a launch that cannot be reported does not fail an operation`() async throws {
        let launches = ParseLaunches()
        let away = ScriptedHTTP((503, ""), (200, object))
        #expect(try await parse(away, launch: [:], launches: launches).get("o", in: "C").id == "o")
        // The server was unavailable, so the next operation reports it.
        let refused = ScriptedHTTP((403, #"{"error":"unauthorized"}"#), (200, object), (200, object))
        let parse = try parse(refused, launch: [:], launches: launches)
        for _ in 0..<2 { #expect(try await parse.get("o", in: "C").id == "o") }
        #expect(refused.paths == ["/parse/events/AppOpened", "/parse/classes/C/o", "/parse/classes/C/o"])
    }

    private let params = #"{"params":{}}"#
    private let object = #"{"objectId":"o"}"#

    @Test func `requests carry the application's id and key`() async throws {
        let http = ScriptedHTTP((200, #"{"params":{}}"#))
        _ = try await parse(http).open()
        #expect(http.requests[0].headers["X-Parse-Application-Id"] == "app")
        #expect(http.requests[0].headers["X-Parse-Client-Key"] == "{{secret:clientKey}}")
        #expect(http.requests[0].headers["X-Parse-REST-API-Key"] == nil)
    }

    @Test func `a record is stored and read back without Parse's own members`() async throws {
        let http = ScriptedHTTP(
            (201, #"{"objectId":"o","createdAt":"2026-01-31T09:30:00.000Z"}"#),
            (200, #"{"objectId":"o","createdAt":"c","updatedAt":"u","name":"Ada"}"#)
        )
        let parse = try parse(http)
        let made = try await parse.create(["name": "Ada"], in: "Person", id: nil)
        #expect(made == DatabaseRecord(id: "o", version: "2026-01-31T09:30:00.000Z", data: ["name": "Ada"]))
        #expect(http.requests[0].headers["X-Parse-Request-Id"]?.count == 36)
        #expect(try await parse.get("o", in: "Person") == DatabaseRecord(id: "o", version: "u", data: ["name": "Ada"]))
    }

    @Test(arguments: [
        (105, "objectId is an invalid field name.", PluginStatus.unsupported),
        (105, "Invalid field name: a-b.", .invalid), (105, "Invalid field name: objectId-b.", .invalid),
        (104, "objectId must not be empty, null or undefined", .invalid),
    ])
    func `only the refusal of the id itself says that the server assigns ids`(
        _ code: Int,
        _ words: String,
        _ expected: PluginStatus
    ) async throws {
        let http = ScriptedHTTP((400, #"{"code":\#(code),"error":"\#(words)"}"#))
        let error = await #expect(throws: PluginError.self) {
            try await parse(http).create(["a": 1], in: "C", id: "i")
        }
        #expect(error?.status == expected && error?.detail == Int32(code))
        #expect(error?.message.contains("the server assigns the ids") == (expected == .unsupported))
    }

    @Test func `a server that assigns ids refuses others, and a bad name as such`() async throws {
        let fields = ["applicationId": "app", "clientKey": "key"]
        let parse = try parse(try SimulatedHTTP("parse", configuration: fields, isAccepted: true))
        for (record, id, expected) in [
            (["a": 1], "i", PluginStatus.unsupported), (["a-b": 1], nil, .invalid),
        ] as [(JSONObject, String?, PluginStatus)] {
            let error = await #expect(throws: PluginError.self) {
                try await parse.create(record, in: "Things", id: id)
            }
            #expect(error?.status == expected && error?.detail == 105)
        }
    }

    @Test func `a replacement deletes what the new record does not have`() async throws {
        let http = ScriptedHTTP((200, #"{"objectId":"o","a":1,"b":2}"#), (200, #"{"updatedAt":"u"}"#))
        let replaced = try await parse(http).replace("o", with: ["a": 3], in: "C", version: nil)
        #expect(http.requests[1].jsonBody == ["a": 3, "b": ["__op": "Delete"]])
        #expect(replaced.data == ["a": 3])
    }

    @Test(
        arguments: [
            ["t": ["__op": "Delete"]], ["a": ["b": ["__op": "Increment", "amount": 5]]], ["a": [1, ["__op": "Add"]]],
            ["t": ["__op": nil]], ["a.b": 1], ["_method": "GET"], ["objectId": "o"], ["__type": "Date"],
            ["n": 9_007_199_254_740_993], ["a": [["n": -9_007_199_254_740_993]]],
        ] as [JSONObject]
    )
    func `a record that Parse would not store as it is is refused`(_ record: JSONObject) async throws {
        let writes: [(Parse) async throws -> Void] = [
            { _ = try await $0.create(record, in: "C", id: nil) },
            { _ = try await $0.replace("o", with: record, in: "C", version: nil) },
            { _ = try await $0.update("o", with: record, in: "C", version: nil) },
        ]
        for write in writes {
            let http = ScriptedHTTP()
            let parse = try parse(http)
            let error = await #expect(throws: PluginError.self) { try await write(parse) }
            #expect(error?.status == .invalid && http.requests.isEmpty)
        }
    }

    @Test func `a value that resembles an operation or a path is stored as it is`() async throws {
        let parse = try parse(
            try SimulatedHTTP(
                "parse",
                configuration: ["applicationId": "app", "clientKey": "key"],
                isAccepted: true
            )
        )
        let record: JSONObject = [
            "text": "__op", "n": 9_007_199_254_740_992, "day": ["__type": "Date", "iso": "2026-01-31T09:30:00.000Z"],
        ]
        let made = try await parse.create(record, in: "Things", id: nil)
        #expect(made.data == record)
        #expect(try await parse.get(made.id, in: "Things").data == record)
    }

    @Test func `what the server's own code changes in a record is in the answer`() async throws {
        let changes = #""name":"Ada","size":{"__op":"Delete"},"sessionToken":"s"}"#
        let http = ScriptedHTTP(
            (201, #"{"objectId":"o","createdAt":"c","# + changes),
            (200, object),
            (200, #"{"updatedAt":"u","# + changes)
        )
        let parse = try parse(http)
        let record: JSONObject = ["name": "ada", "size": 1, "n": 2]
        let stored: JSONObject = ["name": "Ada", "n": 2]
        let made = try await parse.create(record, in: "C", id: nil)
        #expect(made == DatabaseRecord(id: "o", version: "c", data: stored))
        let replaced = try await parse.replace("o", with: record, in: "C", version: nil)
        #expect(replaced == DatabaseRecord(id: "o", version: "u", data: stored))
    }

    @Test(arguments: [
        (503, #"{"error":"busy"}"#, PluginStatus.failed),
        (404, #"{"code":101,"error":"Object not found."}"#, .notFound),
    ])
    func `an update whose record cannot be read says that it was changed, and is not for another server`(
        _ status: Int,
        _ body: String,
        _ expected: PluginStatus
    ) async throws {
        let http = ScriptedHTTP((200, #"{"updatedAt":"u"}"#), (status, body))
        let parse = try parse(http)
        let error = await #expect(throws: PluginError.self) {
            try await parse.update("o", with: ["a": 1], in: "C", version: nil)
        }
        #expect(error?.status == expected && error?.isRetryable == false && http.requests.count == 2)
        #expect(error?.message.contains("was changed") == (expected == .failed))
    }

    @Test func `a version cannot be a condition`() async throws {
        let parse = try parse(ScriptedHTTP())
        let error = await #expect(throws: PluginError.self) { try await parse.delete("o", in: "C", version: "1") }
        #expect(error?.status == .unsupported)
    }

    @Test func `filters and pages are in Parse's terms`() async throws {
        let http = ScriptedHTTP((200, #"{"results":[{"objectId":"1"}],"count":5}"#))
        let query = try DatabaseQuery(
            json: [
                "where": ["a": "x", "n": ["ge": 1, "lt": 5], "id": ["in": ["1", "2"]]], "sort": ["-n"], "limit": 1,
                "cursor": "3",
            ]
        )
        let page = try await parse(http).query(query, in: "C")
        #expect(page.records.map(\.id) == ["1"])
        #expect(page.cursor == "4")
        let url = http.requests[0].url
        #expect(url.value(of: "where") == #"{"a":"x","n":{"$gte":1,"$lt":5},"objectId":{"$in":["1","2"]}}"#)
        #expect(url.value(of: "order") == "-n,objectId")
        #expect(url.value(of: "limit") == "1")
        #expect(url.value(of: "skip") == "3")
        #expect(url.value(of: "count") == "1")
    }

    @Test func `the id's two names are one member, and a second constraint of a kind is a condition of its own`() {
        func condition(_ filters: DatabaseQuery.Filter...) -> String {
            JSONValue.object(ParseQuery.condition(filters)).serialized()
        }
        #expect(
            condition(.init("id", .equal, "1"), .init("objectId", .notEqual, "2"))
                == #"{"objectId":{"$eq":"1","$ne":"2"}}"#
        )
        #expect(
            condition(.init("id", .equal, "1"), .init("a", .equal, "x"), .init("objectId", .equal, "2"))
                == #"{"objectId":{"$eq":"1"},"a":"x","$and":[{"objectId":{"$eq":"2"}}]}"#
        )
        #expect(
            condition(.init("n", .less, 1), .init("n", .less, 2), .init("n", .greater, 0))
                == #"{"n":{"$lt":1,"$gt":0},"$and":[{"n":{"$lt":2}}]}"#
        )
    }

    @Test(arguments: [
        ([], "objectId"), ([DatabaseQuery.Order("n")], "n,objectId"),
        ([.init("n"), .init("id", descending: true)], "n,-objectId"),
    ])
    func `the id breaks ties in the order of pages`(_ sort: [DatabaseQuery.Order], _ order: String) {
        #expect(ParseQuery.order(sort).joined(separator: ",") == order)
    }

    @Test(
        arguments: [
            (#"{"results":[{"objectId":"1"}],"count":1}"#, nil), (#"{"results":[{"objectId":"1"}],"count":2}"#, "1"),
            (#"{"results":[{"objectId":"1"}]}"#, "1"), (#"{"results":[],"count":9}"#, nil),
            (#"{"results":[{"objectId":"1"}],"count":-9223372036854775808}"#, nil),
        ] as [(String, String?)]
    )
    func `a page is the last one if the server's count says so or if it is empty`(_ body: String, _ cursor: String?)
        async throws
    {
        #expect(try await parse(ScriptedHTTP((200, body))).query(DatabaseQuery(), in: "C").cursor == cursor)
    }

    @Test func `all records come in pages, also from a server that returns fewer than it is asked for`() async throws {
        let fields = ["applicationId": "app", "clientKey": "key", "maxLimit": "2"]
        let http = try SimulatedHTTP("parse", configuration: fields, isAccepted: true)
        let parse = try parse(http)
        for _ in 0..<5 { _ = try await parse.create(["n": 1], in: "Things", id: nil) }
        var query = DatabaseQuery(sort: [.init("n")], limit: 3)
        var pages: [[String]] = []
        repeat {
            let page = try await parse.query(query, in: "Things")
            pages.append(page.records.map(\.id))
            query.cursor = page.cursor
        } while query.cursor != nil && pages.count < 9
        #expect(pages.map(\.count) == [2, 2, 1] && Set(pages.joined()).count == 5)
    }

    @Test(arguments: ["-1", "x", "99999999999999999999"])
    func `a cursor that no page can have given is refused`(_ cursor: String) {
        #expect(throws: PluginError.self) { try ParseQuery.skip(cursor) }
    }

    @Test(arguments: [
        (404, #"{"code":101,"error":"Object not found."}"#, PluginStatus.notFound),
        (500, #"{"code":1,"error":"Internal"}"#, .unavailable), (400, #"{"code":155,"error":"slow"}"#, .rateLimited),
        (400, #"{"code":159,"error":"Duplicate request"}"#, .conflict),
        (403, #"{"error":"unauthorized"}"#, .unauthorized),
        (429, #"{"code":100,"error":"x"}"#, .rateLimited), (400, #"{"code":102,"error":"bad"}"#, .invalid),
        (502, "<html>", .unavailable), (404, #"{"message":"no route"}"#, .protocolViolation),
    ])
    func `Parse's codes become the shared statuses`(_ status: Int, _ body: String, _ expected: PluginStatus) {
        let response = HTTPResponse(status: status, body: Array(body.utf8))
        #expect(ParseFailure.failure(response, now: Timestamp(nanoseconds: 0)).status == expected)
    }
}
