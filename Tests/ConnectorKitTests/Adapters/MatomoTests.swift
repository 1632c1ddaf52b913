// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

@testable internal import matomo

/// The adapter of Matomo.
@Suite struct MatomoTests {
    private func matomo(
        _ http: ScriptedHTTP,
        token: Bool = true,
        log: Log? = nil,
        clock: StoppedClock = StoppedClock()
    ) throws -> Matomo {
        var fields: JSONObject = ["endpoint": "http://vendor.example/stats/", "siteId": "7"]
        if token { fields["token"] = "{{secret:token}}" }
        var host = Host.scripted(http, clock: clock)
        if let log { host.log = log }
        return try Matomo(configuration: PluginConfiguration(fields), host: host)
    }

    /// The items of a request of the batch.
    private func items(_ request: HTTPRequest, _ index: Int = 0) throws -> QueryItems {
        let text = try #require(request.jsonBody["requests"]?[index]?.string)
        #expect(text.hasPrefix("?"))
        return QueryItems(parsing: text.dropFirst())
    }

    private static let refused = (200, #"{"status":"success","tracked":0,"invalid":1,"invalid_indices":[0]}"#)
    private static let nameless = (200, #"{"status":"success","tracked":0,"invalid":1}"#)
    private static let site = (200, #"{"idsite":"7","name":"Shop"}"#)

    private static func tracked(_ count: Int) -> (Int, String) {
        (200, #"{"status":"success","tracked":\#(count),"invalid":0}"#)
    }

    @Test func `an event carries the person, the visitor, the time and the page`() async throws {
        let http = ScriptedHTTP(Self.tracked(1))
        var event = AnalyticsEvent.track(
            "Order & {{secret:token}}",
            ["value": 42.5, "category": "Shop", "dimension3": "b", "url": "http://shop.example/?a=b"],
            userId: "u",
            anonymousId: "0f8fad5b-d9cb-469f-a165-70867728950e"
        )
        event.context = ["ip": "192.0.2.1", "locale": "de", "page": ["referrer": "http://search.example"]]
        #expect(try await matomo(http).deliver([event]).map(\.outcome) == [.accepted])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/stats/matomo.php")
        #expect(request.hasPlaceholdersInBody && request.text.ranges(of: "{{").count == 1)
        let items = try items(request)
        for (name, value) in [
            ("idsite", "7"), ("rec", "1"), ("uid", "u"), ("cdt", "1769851800"),
            ("_id", String(StableUUID.hashed("0f8fad5b-d9cb-469f-a165-70867728950e").prefix(16))),
            ("e_c", "Shop"), ("e_a", "Order & {{secret:token}}"), ("e_v", "42.5"), ("dimension3", "b"),
            ("url", "http://shop.example/?a=b"), ("urlref", "http://search.example"), ("cip", "192.0.2.1"),
            ("lang", "de"), ("ca", "1"),
        ] { #expect(items[name] == value, "\(name)") }
    }

    @Test func `a visitor without a user's id is named, and not only hinted at, so that nobody joins another's visit`()
        async throws
    {
        let http = ScriptedHTTP(Self.tracked(1), Self.tracked(1), Self.tracked(1))
        let events: [AnalyticsEvent] = [
            .track("a", anonymousId: "x"), .track("a", anonymousId: "y"), .track("a", userId: "u", anonymousId: "x"),
        ]
        #expect(try await matomo(http).deliver(events).map(\.outcome) == [.accepted, .accepted, .accepted])
        let sent = try http.requests.map { try items($0) }
        let visitor = try #require(sent[0]["cid"])
        #expect(visitor.utf8.count == 16 && sent[1]["cid"]?.utf8.count == 16 && sent[1]["cid"] != visitor)
        #expect(sent[0]["_id"] == nil && sent[1]["_id"] == nil)
        #expect(sent[2]["cid"] == nil && sent[2]["_id"] == visitor && sent[2]["uid"] == "u")
    }

    @Test(arguments: [
        ["00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000002"],
        ["019ad4a0-1234-7abc-8000-000000000000", "019ad4a0-1234-7abc-9fff-000000000000"],
        ["089c1307b5458527", "089C1307B5458528", "0123456789abcde", "0123456789abcdeg"],
    ])
    func `visitors differ if their ids do, if only in the last digits, and an id in Matomo's form stays`(ids: [String])
        async throws
    {
        let answer = HTTPResponse(status: 200, body: Array(Self.tracked(1).1.utf8))
        let http = ScriptedHTTP(ids.map { _ in .response(answer) })
        let events = ids.map { AnalyticsEvent.track("a", anonymousId: $0) }
        #expect(try await matomo(http).deliver(events).allSatisfy { $0 == .accepted })
        let visitors = try http.requests.map { try items($0)["cid"] ?? "" }
        #expect(Set(visitors).count == ids.count)
        #expect(visitors.allSatisfy { $0.utf8.count == 16 && UInt64($0, radix: 16) != nil })
        for (id, visitor) in zip(ids, visitors) where id.utf8.count == 16 && UInt64(id, radix: 16) != nil {
            #expect(visitor == id)
        }
    }

    @Test(arguments: [
        ("2026-01-31T09:40:00Z", DeliveryAnswer.Outcome.accepted), ("2026-01-31T09:40:01Z", .rejected),
        ("2030-01-01T00:00:00Z", .rejected), ("2006-02-05T09:30:01Z", .accepted), ("2006-02-05T09:30:00Z", .rejected),
        ("1970-01-01T00:00:00Z", .rejected),
    ])
    func `an event to which Matomo would give the time of its arrival is rejected`(
        _ time: String,
        _ outcome: DeliveryAnswer.Outcome
    ) async throws {
        var event = AnalyticsEvent.track("a", userId: "u")
        let moment: Timestamp = try #require(Timestamp(parsing: time))
        event.timestamp = moment
        let http = ScriptedHTTP(Self.tracked(1))
        #expect(try await matomo(http).deliver([event]).map(\.outcome) == [outcome])
        #expect(http.requests.count == (outcome == .accepted ? 1 : 0))
    }

    @Test(arguments: [JSONValue.null, ""])
    func `a property without a value leaves its place to the next one`(_ nothing: JSONValue) async throws {
        let http = ScriptedHTTP(Self.tracked(1), Self.tracked(1))
        var track = AnalyticsEvent.track("X", ["name": "n", "revenue": 3], userId: "u")
        for name in ["category", "label", "url", "referrer", "value"] { track.properties[name] = nothing }
        track.context = ["page": ["url": "http://shop.example/", "referrer": "http://search.example/"]]
        var page = AnalyticsEvent(.page, userId: "u")
        page.name = "Home"
        page.properties = ["title": nothing]
        #expect(try await matomo(http).deliver([track, page]).map(\.outcome) == [.accepted, .accepted])
        let sent = try http.requests.map { try items($0) }
        for (name, value) in [
            ("e_c", "Events"), ("e_n", "n"), ("e_v", "3.0"), ("url", "http://shop.example/"),
            ("urlref", "http://search.example/"),
        ] { #expect(sent[0][name] == value, "\(name)") }
        #expect(sent[1]["action_name"] == "Home")
    }

    @Test func `a page becomes an action, an IP address needs a token, and traits are rejected`() async throws {
        let http = ScriptedHTTP(Self.tracked(1))
        var page = AnalyticsEvent(.page, userId: "u")
        page.name = "Home page"
        page.context = ["ip": "192.0.2.1"]
        let answers = try await matomo(http, token: false).deliver([page, AnalyticsEvent(.identify, userId: "u")])
        #expect(answers.map(\.outcome) == [.accepted, .rejected])
        let items = try items(http.requests[0])
        #expect(items["action_name"] == "Home page" && items["url"] == "app://screen/Home%20page")
        #expect(items["cip"] == nil && http.requests[0].jsonBody["token_auth"] == nil)
    }

    @Test func `with a superuser's token events go in batches, and those that Matomo names are rejected`() async throws
    {
        let answer = #"{"status":"success","tracked":2,"invalid":1,"invalid_indices":[1]}"#
        let http = ScriptedHTTP(Self.refused, Self.site, (200, answer))
        let matomo = try matomo(http)
        #expect(try await matomo.open().map(\.kind) == [.reachable, .authenticated])
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        #expect(try await matomo.deliver(events).map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(http.requests.map { $0.jsonBody["requests"]?.array?.count } == [1, nil, 3])
        #expect(try items(http.requests[0])["idsite"] == "-1")
        #expect(http.requests[1].text == "token_auth={{secret:token}}" && http.requests[1].hasPlaceholdersInBody)
    }

    @Test func `a batch of which nothing was tracked is tried again, despite its success`() async throws {
        let http = ScriptedHTTP(Self.refused, Self.site, Self.tracked(0))
        let matomo = try matomo(http)
        _ = try await matomo.open()
        let answers = try await matomo.deliver([.track("a", userId: "u"), .track("b", userId: "u")])
        #expect(answers.map(\.outcome) == [.retry, .retry] && answers[0].code == .unavailable)
    }

    @Test func `if Matomo skips some events of a batch, all go again, one by one for an hour, and none is lost`()
        async throws
    {
        let lost = Mutex<[JSONValue?]>([])
        let log = Log(level: .warning) { _, _, fields in lost.withLock { $0.append(fields["lost"]) } }
        let (none, one, two, clock) = (Self.tracked(0), Self.tracked(1), Self.tracked(2), StoppedClock())
        let http = ScriptedHTTP(Self.refused, Self.site, two, one, none, one, one, two)
        let matomo = try matomo(http, log: log, clock: clock)
        _ = try await matomo.open()
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        let answers = try await matomo.deliver(events)
        #expect(answers.map(\.outcome) == [.retry, .retry, .retry] && answers.allSatisfy { $0.code == .unavailable })
        #expect(answers[0].reason?.contains("matomo tracked 2 of 3 requests") == true && lost.withLock(\.self) == [1])
        // One that is skipped alone is known.
        let next = try await matomo.deliver(events)
        #expect(next.map(\.outcome) == [.accepted, .retry, .retry] && next[2].isUnsent)
        try await clock.sleep(for: .seconds(3599))
        #expect(try await matomo.deliver([events[1], events[2]]) == [.accepted, .accepted])
        try await clock.sleep(for: .seconds(1))
        #expect(try await matomo.deliver([events[0], events[1]]) == [.accepted, .accepted])
        let counts = http.requests.map { $0.jsonBody["requests"]?.array?.count }
        #expect(counts == [1, nil, 3, 1, 1, 1, 1, 2] && lost.withLock(\.self) == [1])
    }

    @Test func `if Matomo does not name the invalid event of a batch, all go again, one by one, and it is known`()
        async throws
    {
        let nameless = (200, #"{"status":"success","tracked":2,"invalid":1}"#)
        let http = ScriptedHTTP(Self.refused, Self.site, nameless, Self.tracked(1), Self.nameless, Self.tracked(1))
        let matomo = try matomo(http)
        _ = try await matomo.open()
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        #expect(try await matomo.deliver(events).map(\.outcome) == [.retry, .retry, .retry])
        #expect(try await matomo.deliver(events).map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(http.requests.count == 6)
    }

    @Test func `if one event is named as invalid and another one is skipped, only the named one is rejected`()
        async throws
    {
        let answer = #"{"status":"success","tracked":1,"invalid":1,"invalid_indices":[1]}"#
        let matomo = try matomo(ScriptedHTTP(Self.refused, Self.site, (200, answer)))
        _ = try await matomo.open()
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        #expect(try await matomo.deliver(events).map(\.outcome) == [.retry, .rejected, .retry])
    }

    @Test func `if one is invalid and none was tracked, the others are sent again`() async throws {
        let answer = #"{"status":"success","tracked":0,"invalid":1,"invalid_indices":[1]}"#
        let http = ScriptedHTTP(Self.refused, Self.site, (200, answer), Self.tracked(2))
        let matomo = try matomo(http)
        _ = try await matomo.open()
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        #expect(try await matomo.deliver(events).map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(http.requests.last?.jsonBody["requests"]?.array?.count == 2)
    }

    @Test(arguments: [Int64.min, .max])
    func `an event gets an answer, whatever counts Matomo sends`(_ count: Int64) async throws {
        for answer in [
            #"{"status":"success","tracked":\#(count),"invalid":\#(count),"invalid_indices":[\#(count)]}"#,
            #"{"status":"success","tracked":1,"invalid":\#(count)}"#,
        ] {
            let event = AnalyticsEvent.track("a", userId: "u")
            #expect(try await matomo(ScriptedHTTP((200, answer))).deliver([event]).count == 1)
        }
    }

    @Test func `without a superuser's token events go one by one, so that the invalid one is known`() async throws {
        let http = ScriptedHTTP(Self.nameless, Self.tracked(1), Self.nameless, Self.tracked(1))
        let matomo = try matomo(http, token: false)
        #expect(try await matomo.open().map(\.kind) == [.reachable])
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        #expect(try await matomo.deliver(events).map(\.outcome) == [.accepted, .rejected, .accepted])
    }

    @Test func `a slow server gets each event once, though one call has no time for all of them`() async throws {
        let clock = StoppedClock()
        let answers = Array(repeating: Self.tracked(1), count: 100)
        let http = ScriptedHTTP(
            answers.map { .response(HTTPResponse(status: $0.0, body: Array($0.1.utf8))) },
            delay: (.milliseconds(400), clock)
        )
        let host = Host.scripted(http, clock: clock)
        let fields = PluginConfiguration(["endpoint": "http://vendor.example/", "siteId": "7"])
        let matomo = try Matomo(configuration: fields, host: host)
        var events = (1...100).map { AnalyticsEvent.track("e\($0)", userId: "u") }
        while !events.isEmpty {
            let end = clock.monotonic + 30_000_000_000
            let answers = try await Deadline.apply(end, on: clock) { [events] in try await matomo.deliver(events) }
            #expect(clock.monotonic < end && answers.contains(.accepted))
            events = zip(events, answers).filter { $1.outcome == .retry }.map(\.0)
        }
        #expect(try http.requests.map { try items($0)["e_a"] } == (1...100).map { "e\($0)" })
    }

    @Test(arguments: [
        (401, #"{"result":"error","message":"no access"}"#), (200, #"{"result":"error","message":"no access"}"#),
    ])
    func `a token that may not see the site is unauthorized`(_ status: Int, _ body: String) async throws {
        let error = await #expect(throws: PluginError.self) {
            try await matomo(ScriptedHTTP(Self.nameless, (status, body))).open()
        }
        #expect(error?.status == .unauthorized && error?.message.contains("no access") == true)
    }

    @Test func `a server that tracks a request without a site is not Matomo`() async throws {
        let error = await #expect(throws: PluginError.self) { try await matomo(ScriptedHTTP(Self.tracked(1))).open() }
        #expect(error?.status == .protocolViolation)
    }

    @Test func `a server that fails gets the events again`() async throws {
        let http = ScriptedHTTP((500, #"{"status":"error","tracked":0,"invalid":0}"#))
        let answers = try await matomo(http).deliver([.track("a", userId: "u"), .track("b", userId: "u")])
        #expect(answers.map(\.outcome) == [.retry, .retry] && answers[0].code == .unavailable)
    }
}
