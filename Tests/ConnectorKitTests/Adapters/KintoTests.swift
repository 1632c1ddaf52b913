// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import kinto

/// The adapter of Kinto.
@Suite struct KintoTests {
    private func kinto(_ http: ScriptedHTTP, clock: StoppedClock = StoppedClock(), bucket: String = "b") throws -> Kinto
    {
        try Kinto(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example/v1/", "bucket": .string(bucket), "username": "ada",
                "password": "{{secret:password}}",
            ]),
            host: .scripted(http, clock: clock)
        )
    }

    private let record = #"{"data":{"id":"r","last_modified":17,"schema":1,"name":"Ada"}}"#

    /// Kinto's answer to a request for the records of a collection that does not exist.
    private let noCollection = (
        404,
        #"{"code":404,"errno":111,"error":"Not Found","message":"m","details":{"id":"c","resource_name":"collection"}}"#
    )

    @Test func `the root proves the user, and a root that names no user is refused`() async throws {
        let http = ScriptedHTTP((200, #"{"user":{"id":"account:ada"}}"#), (200, #"{"data":{"id":"b"}}"#))
        #expect(try await kinto(http).open().map(\.kind) == [.authenticated])
        #expect(
            http.requests.map(\.url.description) == ["http://vendor.example/v1/", "http://vendor.example/v1/buckets/b"]
        )
        #expect(http.requests[0].headers["Authorization"] == "Basic {{base64:ada:{{secret:password}}}}")
        let stranger = try kinto(ScriptedHTTP((200, #"{"http_api_version":"1.23"}"#)))
        let error = await #expect(throws: PluginError.self) { try await stranger.open() }
        #expect(error?.status == .unauthorized)
    }

    @Test func `the default bucket is not read, since that would make it`() async throws {
        let http = ScriptedHTTP((200, #"{"user":{"id":"account:ada"}}"#))
        _ = try await kinto(http, bucket: "default").open()
        #expect(http.requests.count == 1)
    }

    @Test func `a record is read without Kinto's own members`() async throws {
        let got = try await kinto(ScriptedHTTP((200, record))).get("r", in: "c")
        #expect(got == DatabaseRecord(id: "r", version: "17", data: ["name": "Ada"]))
    }

    @Test func `a condition on the version is the header If-Match`() async throws {
        let http = ScriptedHTTP((412, #"{"message":"Resource was modified meanwhile"}"#))
        let kinto = try kinto(http)
        let error = await #expect(throws: PluginError.self) {
            try await kinto.update("r", with: ["a": 1], in: "c", version: "17")
        }
        #expect(error?.status == .conflict)
        #expect(http.requests[0].method == .patch)
        #expect(http.requests[0].headers["If-Match"] == "\"17\"")
        await #expect(throws: PluginError.self) { try await kinto.delete("r", in: "c", version: "17\r\nX: y") }
        #expect(http.requests.count == 1)
    }

    @Test func `an id that is taken is named`() async throws {
        let modified = #"{"message":"Resource was modified meanwhile"}"#
        let collection = #"{"data":{"id":"c"}}"#
        for http in [
            ScriptedHTTP((412, modified)), ScriptedHTTP(noCollection, (201, collection), (412, modified)),
        ] {
            let kinto = try kinto(http)
            let error = await #expect(throws: PluginError.self) {
                try await kinto.create(["name": "Ada"], in: "c", id: "r")
            }
            #expect(error?.status == .conflict && error?.message == #"there is a record "r" already"#)
            #expect(http.requests.last?.headers["If-None-Match"] == "*")
        }
    }

    /// Kinto's answer to a write that reached its PostgreSQL with the timestamp of another one.
    private let rolledBack = (
        409, #"{"code":409,"errno":122,"error":"Conflict","message":"Integrity constraint violated, please retry."}"#
    )

    @Test func `a write that the server rolled back is sent again, whatever it does`() async throws {
        let writes: [(Kinto) async throws -> Void] = [
            { _ = try await $0.create(["a": 1], in: "c", id: nil) },
            { _ = try await $0.create(["a": 1], in: "c", id: "r") },
            { _ = try await $0.replace("r", with: ["a": 1], in: "c", version: "17") },
            { _ = try await $0.update("r", with: ["a": 1], in: "c", version: nil) },
            { try await $0.delete("r", in: "c", version: nil) },
        ]
        for write in writes {
            let (http, clock) = (ScriptedHTTP(rolledBack, rolledBack, (200, record)), StoppedClock())
            try await write(kinto(http, clock: clock))
            #expect(http.requests.count == 3 && Set(http.requests).count == 1)
            #expect(clock.sleeps.count == 2)
            #expect(clock.sleeps.allSatisfy { $0 >= .milliseconds(5) && $0 <= .milliseconds(50) })
        }
    }

    @Test func `a write that the server rolls back each time is unavailable, and says nothing of the record`()
        async throws
    {
        let answer = HTTPResponse(status: 409, headers: ["Retry-After": "3"], body: Array(rolledBack.1.utf8))
        let http = ScriptedHTTP(Array(repeating: .response(answer), count: 20))
        let kinto = try kinto(http)
        let error = await #expect(throws: PluginError.self) { try await kinto.create(["a": 1], in: "c", id: "r") }
        #expect(error?.status == .unavailable && error?.isRetryable == true && error?.retryAfter == .seconds(3))
        #expect(error?.message.contains("please retry") == true)
        #expect(http.requests.count == 1 + KintoConnection.repetitions)
    }

    @Test func `a write that was rolled back is not sent again once its deadline is near`() async throws {
        let (clock, http) = (StoppedClock(), ScriptedHTTP(rolledBack, (200, record)))
        let kinto = try kinto(http, clock: clock)
        let error = await #expect(throws: PluginError.self) {
            try await Deadline.apply(5_000_000, on: clock) {
                _ = try await kinto.update("r", with: ["a": 1], in: "c", version: nil)
            }
        }
        #expect(error?.status == .unavailable && clock.sleeps.isEmpty && http.requests.count == 1)
    }

    @Test func `only a condition that does not hold says that an id is taken`() async throws {
        let http = ScriptedHTTP((409, #"{"code":409,"errno":999,"message":"another reason"}"#))
        let kinto = try kinto(http)
        let error = await #expect(throws: PluginError.self) { try await kinto.create(["a": 1], in: "c", id: "r") }
        #expect(error?.status == .conflict && error?.message.contains("another reason") == true)
        #expect(http.requests.count == 1)
    }

    @Test(arguments: [(#""a\u0000b""#, true), (#""a\\u0000b""#, false), (#""ab""#, false)])
    func `a record that PostgreSQL cannot store is invalid, and a server that is away is unavailable`(
        _ json: String,
        _ isBlamed: Bool
    ) async throws {
        let text = try JSONValue(parsing: json)
        let away = #"{"code":503,"errno":201,"error":"Service Unavailable","message":"please retry later."}"#
        let kinto = try kinto(ScriptedHTTP((503, away)))
        let error = await #expect(throws: PluginError.self) {
            try await kinto.create(["text": text], in: "c", id: nil)
        }
        let expected: PluginStatus = isBlamed ? .invalid : .unavailable
        #expect(error?.status == expected && error?.isRetryable == !isBlamed)
        #expect(error?.message.contains("U+0000") == isBlamed)
    }

    @Test func `a replacement without a version looks the present one up`() async throws {
        let http = ScriptedHTTP((200, record), (412, "{}"), (200, record), (200, record))
        _ = try await kinto(http).replace("r", with: ["a": 1], in: "c", version: nil)
        #expect(http.requests.map(\.method) == [.get, .put, .get, .put])
        #expect(http.requests[3].headers["If-Match"] == "\"17\"")
    }

    @Test func `a collection is made with its first record`() async throws {
        let http = ScriptedHTTP(noCollection, (201, #"{"data":{"id":"c"}}"#), (201, record))
        let made = try await kinto(http).create(["name": "Ada"], in: "c", id: nil)
        #expect(made.id == "r")
        #expect(http.requests.map(\.method) == [.post, .put, .post])
        #expect(http.requests[1].url.description == "http://vendor.example/v1/buckets/b/collections/c")
    }

    @Test func `a collection that does not exist has no records`() async throws {
        let page = try await kinto(ScriptedHTTP(noCollection)).query(DatabaseQuery(), in: "c")
        #expect(page == DatabasePage(records: [], cursor: nil))
    }

    @Test(arguments: [
        (404, "<html><head><title>404 Not Found</title></head><body>nginx</body></html>"), (404, ""),
        (404, #"{"code":404,"errno":111,"error":"Not Found","message":"The resource could not be found."}"#),
        (410, #"{"code":410,"errno":202,"error":"Gone","message":"Version of this service is deprecated."}"#),
    ])
    func `an answer that names nothing as missing says that the server is, not a collection or a record`(
        _ status: Int,
        _ body: String
    ) async throws {
        let calls: [(Kinto) async throws -> Void] = [
            { _ = try await $0.query(DatabaseQuery(), in: "c") }, { _ = try await $0.get("r", in: "c") },
            { _ = try await $0.create(["a": 1], in: "c", id: nil) },
            { try await $0.delete("r", in: "c", version: nil) },
        ]
        for call in calls {
            let http = ScriptedHTTP((status, body))
            let kinto = try kinto(http)
            let error = await #expect(throws: PluginError.self) { try await call(kinto) }
            #expect(error?.status == .unavailable || error?.status == .protocolViolation)
            #expect(error?.isRetryable == true && http.requests.count == 1)
        }
    }

    @Test(arguments: [
        #"{"code":404,"errno":110,"error":"Not Found","details":{"id":"r","resource_name":"record"}}"#,
        #"{"code":404,"errno":110,"error":"Not Found","message":"not found"}"#,
        #"{"code":404,"errno":111,"error":"Not Found","details":{"id":"c","resource_name":"collection"}}"#,
    ])
    func `a record that Kinto calls missing, or whose collection it does, is not found`(_ body: String) async throws {
        let kinto = try kinto(ScriptedHTTP((404, body)))
        let error = await #expect(throws: PluginError.self) { try await kinto.get("r", in: "c") }
        #expect(error?.status == .notFound && error?.isRetryable == false)
    }

    @Test(arguments: [
        (DatabaseQuery.Filter("n", .equal, "42"), "n", #""42""#), (.init("n", .greaterOrEqual, 1), "min_n", "1"),
        (.init("n", .less, 1.5), "lt_n", "1.5"), (.init("min_n", .equal, 1), "in_min_n", "1"),
        (.init("_x", .equal, nil), "in__x", "null"), (.init("n", .within, ["a", true]), "in_n", #""a",true"#),
        (.init("eq_n", .equal, 1), "in_eq_n", "1"), (.init("a.b", .notEqual, 1), "not_a.b", "1"),
        (.init("größe, a-b", .equal, 1), "größe, a-b", "1"),
    ])
    func `filters are items of the query`(_ filter: DatabaseQuery.Filter, _ name: String, _ value: String) throws {
        let item = try KintoFilter.item(filter)
        #expect(item.name == name)
        #expect(item.value == value)
    }

    @Test(
        arguments: [
            ([.init("z", .greater, 1)], ["gt_z=1", "lt_z=false"]),
            ([.init("z", .greaterOrEqual, "a")], [#"min_z="a""#, "lt_z=-1.7976931348623157e308"]),
            ([.init("z", .less, 1)], ["lt_z=1", "min_z=-1.7976931348623157e308"]),
            ([.init("z", .lessOrEqual, "a")], [#"max_z="a""#, "gt_z=null"]),
            ([.init("z", .greaterOrEqual, 1), .init("z", .less, 5)], ["min_z=1", "lt_z=5"]),
            (
                [.init("b", .greater, "x"), .init("a", .less, 1)],
                [#"gt_b="x""#, "lt_a=1", "min_a=-1.7976931348623157e308", "lt_b=-1.7976931348623157e308"]
            ),
            ([.init("y", .equal, 1), .init("z", .notEqual, nil)], ["has_z=true", "y=1", "not_z=null"]),
            ([.init("z", .notEqual, 1)], ["not_z=1"]),
            ([.init("last_modified", .greater, 17)], ["gt_last_modified=17"]),
        ] as [([DatabaseQuery.Filter], [String])]
    )
    func `a comparison by order finds only values of its type, and never a record that lacks the field`(
        _ filters: [DatabaseQuery.Filter],
        _ items: [String]
    ) throws {
        #expect(try KintoFilter.items(filters).map { "\($0.name)=\($0.value)" } == items)
    }

    @Test(
        arguments: [
            [.init("z", .greater, true)], [.init("z", .less, nil)], [.init("z", .greater, 1), .init("z", .less, "b")],
        ] as [[DatabaseQuery.Filter]]
    )
    func `a comparison by order with anything but numbers or texts is unsupported`(_ filters: [DatabaseQuery.Filter]) {
        let error = #expect(throws: PluginError.self) { try KintoFilter.items(filters) }
        #expect(error?.status == .unsupported && error?.message.contains("\"z\"") == true)
    }

    @Test(arguments: ["a,b", "a,\u{301}b"])
    func `a list of values with a comma in one of them is unsupported`(_ text: JSONValue) {
        let error = #expect(throws: PluginError.self) { try KintoFilter.item(.init("n", .within, [text])) }
        #expect(error?.status == .unsupported)
    }

    @Test(
        arguments: [
            .init("a-b", .less, 1), .init("größe", .notEqual, 1), .init("", .greater, 1), .init("a b", .within, [1]),
            .init("_a b", .equal, 1), .init("min_a-b", .equal, 1), .init("eq_\u{301}", .equal, 1),
            .init(" a", .equal, 1), .init("a\u{1C}", .equal, 1),
        ] as [DatabaseQuery.Filter]
    )
    func `a field whose name Kinto would misread is refused`(_ filter: DatabaseQuery.Filter) {
        let error = #expect(throws: PluginError.self) { try KintoFilter.item(filter) }
        #expect(error?.status == .unsupported && error?.message.contains("\"\(filter.field)\"") == true)
    }

    @Test(arguments: ["a-b", "a,b", "größe", ""])
    func `an order by a field that Kinto would leave out is refused`(_ field: String) async throws {
        let (http, query) = (ScriptedHTTP(), DatabaseQuery(sort: [.init("n"), .init(field, descending: true)]))
        let kinto = try kinto(http)
        let error = await #expect(throws: PluginError.self) { try await kinto.query(query, in: "c") }
        #expect(error?.status == .unsupported && http.requests.isEmpty)
    }

    @Test func `pages follow each other by token`() async throws {
        var page = HTTPResponse(status: 200, body: Array(#"{"data":[{"id":"r","last_modified":17}]}"#.utf8))
        page.headers["Next-Page"] = "http://elsewhere.example/v1/records?_limit=1&_token=a%3Db"
        let http = ScriptedHTTP([.response(page)])
        let found = try await kinto(http).query(DatabaseQuery(sort: [.init("n", descending: true)], limit: 1), in: "c")
        #expect(found.cursor == "a=b")
        #expect(http.requests[0].url.description.hasSuffix("/records?_sort=-n&_limit=1"))
    }

    @Test func `a next page whose address is too long is not the last page`() async throws {
        var page = HTTPResponse(status: 200, body: Array(#"{"data":[]}"#.utf8))
        page.headers["Next-Page"] = "http://vendor.example/v1/records?_token=" + String(repeating: "a", count: 9000)
        let kinto = try kinto(ScriptedHTTP([.response(page)]))
        let error = await #expect(throws: PluginError.self) { _ = try await kinto.query(DatabaseQuery(), in: "c") }
        #expect(error?.status == .unsupported && error?.message.contains("shorter values") == true)
    }

    @Test func `requests wait while the server requested a pause`() async throws {
        var answer = HTTPResponse(status: 200, body: Array(record.utf8))
        answer.headers["Backoff"] = "30"
        let clock = StoppedClock()
        let kinto = try kinto(ScriptedHTTP([.response(answer), .response(answer)]), clock: clock)
        _ = try await kinto.get("r", in: "c")
        #expect(clock.sleeps.isEmpty)
        _ = try await kinto.get("r", in: "c")
        #expect(clock.sleeps == [.seconds(30)])
    }

    @Test func `a call whose deadline comes before the end of a pause is refused at once`() async throws {
        var answer = HTTPResponse(status: 200, body: Array(record.utf8))
        answer.headers["Backoff"] = "30"
        let (clock, http) = (StoppedClock(), ScriptedHTTP([.response(answer), .response(answer)]))
        let kinto = try kinto(http, clock: clock)
        _ = try await kinto.get("r", in: "c")
        let error = await #expect(throws: PluginError.self) {
            try await Deadline.apply(30_000_000_000, on: clock) { _ = try await kinto.get("r", in: "c") }
        }
        #expect(error?.status == .rateLimited && error?.isRetryable == true && error?.retryAfter == .seconds(30))
        #expect(clock.sleeps.isEmpty && http.requests.count == 1)
        try await Deadline.apply(30_000_000_001, on: clock) { _ = try await kinto.get("r", in: "c") }
        #expect(clock.sleeps == [.seconds(30)])
    }

    @Test func `a proof asks at once during a pause, and its answer says whether the pause still holds`() async throws {
        func answer(_ body: String, backoff: String? = nil) -> ScriptedHTTP.Answer {
            var response = HTTPResponse(status: 200, body: Array(body.utf8))
            response.headers["Backoff"] = backoff
            return .response(response)
        }
        let (root, bucket, clock) = (#"{"user":{"id":"account:ada"}}"#, #"{"data":{"id":"b"}}"#, StoppedClock())
        let http = ScriptedHTTP([
            answer(root), answer(bucket), answer(record, backoff: "60"), answer(root, backoff: "30"), answer(root),
            answer(bucket), answer(record),
        ])
        let kinto = try kinto(http, clock: clock)
        func prove() async throws -> [Evidence] {
            try await Deadline.apply(clock.monotonic + 10_000_000_000, on: clock) { try await kinto.probe() }
        }
        _ = try await kinto.open()
        _ = try await kinto.get("r", in: "c")
        let held = try await prove()
        #expect(held.map(\.kind) == [.authenticated] && http.requests.count == 4)
        #expect(held[0].detail == "the server answers as account:ada; it requested a pause of 30.0 s")
        // The server no longer wants one: calls go on, and the bucket is read again.
        let over = try await prove()
        #expect(over[0].detail == "the server answers as account:ada" && http.requests.count == 6)
        _ = try await kinto.get("r", in: "c")
        #expect(http.requests.count == 7 && clock.sleeps.isEmpty)
    }

    @Test func `a proof that is refused fails, pause or not, and says how long to wait`() async throws {
        var away = HTTPResponse(status: 503, body: Array(#"{"code":503,"errno":201,"error":"e"}"#.utf8))
        away.headers["Backoff"] = "60"
        let (clock, http) = (StoppedClock(), ScriptedHTTP([.response(away), .response(away)]))
        let kinto = try kinto(http, clock: clock)
        for _ in 1...2 {
            let error = await #expect(throws: PluginError.self) {
                try await Deadline.apply(10_000_000_000, on: clock) { _ = try await kinto.open() }
            }
            #expect(error?.status == .unavailable && error?.retryAfter == .seconds(60))
        }
        #expect(http.requests.count == 2 && clock.sleeps.isEmpty)
    }

    @Test(arguments: ["id", "last_modified", "schema"])
    func `a record with a member that would be taken for Kinto's own is refused`(_ name: String) async throws {
        let kinto = try kinto(ScriptedHTTP())
        let error = await #expect(throws: PluginError.self) {
            try await kinto.create(JSONObject([(name, JSONValue.integer(1))]), in: "c", id: nil)
        }
        #expect(error?.status == .invalid)
    }
}
