// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import ga4

/// The adapter of Google Analytics 4.
@Suite struct GA4Tests {
    private let now = Timestamp(parsing: "2026-01-31T09:30:00Z") ?? Timestamp(nanoseconds: 0)

    private func ga4(_ http: ScriptedHTTP, stream: String = "G-1", validate: Bool = false) throws -> GA4 {
        try GA4(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "stream": .string(stream), "apiSecret": "{{secret:apiSecret}}",
                "validate": .bool(validate),
            ]),
            host: .scripted(http)
        )
    }

    private func encoded(_ event: AnalyticsEvent) throws -> JSONValue {
        try JSONValue(parsing: GA4Events.encode(event, now: now))
    }

    @Test func `a request has the events of one person, and names its secret in the query`() async throws {
        let http = ScriptedHTTP((204, ""), (204, ""), (204, ""))
        var identify = AnalyticsEvent(.identify, userId: "u", anonymousId: "a")
        identify.traits = ["plan": "pro", "home": ["city": "Bern"], "user_id": "u"]
        let events = [
            AnalyticsEvent.track("Order Completed", ["total": 42.5], userId: "u", anonymousId: "a"),
            .track("b", userId: "v"), identify, .track("c", userId: "u", anonymousId: "a"),
        ]
        #expect(try await ga4(http).deliver(events).map(\.outcome) == Array(repeating: .accepted, count: 4))
        let url = "http://vendor.example/mp/collect?measurement_id=G-1&api_secret={{secret:apiSecret}}"
        #expect(http.requests.map(\.url.description) == Array(repeating: url, count: 3))
        let bodies = http.requests.map(\.jsonBody)
        #expect(bodies.map { $0["client_id"] } == ["a", "v", "a"] && bodies.map { $0["user_id"] } == ["u", "v", "u"])
        #expect(bodies[0]["events"]?.array?.map { $0["name"] } == ["Order_Completed", "c"])
        #expect(bodies[0]["events"]?[0]?["params"] == ["total": 42.5, "engagement_time_msec": 1])
        #expect(bodies[0]["events"]?[0]?["timestamp_micros"] == 1_769_851_800_000_000)
        #expect(bodies[2]["user_properties"] == ["plan": ["value": "pro"], "home_city": ["value": "Bern"]])
    }

    @Test func `an app's stream has other names for both ids`() async throws {
        let http = ScriptedHTTP((204, ""))
        let id = "0F8fad5bd9cb469fa16570867728950e"
        _ = try await ga4(http, stream: "1:2:ios:3").deliver([.track("a", anonymousId: id)])
        #expect(http.requests[0].url.value(of: "firebase_app_id") == "1:2:ios:3")
        #expect(http.requests[0].jsonBody["app_instance_id"] == .string(id))
    }

    @Test(arguments: ["0f8fad5b-d9cb-469f-a165-70867728950e", "i", String(repeating: "x", count: 32), nil])
    func `an app's stream rejects an event without Firebase's id, which Google would drop`(_ id: String?) async throws {
        let http = ScriptedHTTP()
        let event = AnalyticsEvent.track("a", userId: "u", anonymousId: id)
        let answers = try await ga4(http, stream: "1:2:ios:3").deliver([event])
        #expect(answers.map(\.outcome) == [.rejected] && http.requests.isEmpty)
    }

    @Test func `pages, screens and groups have Google's parameters`() throws {
        var page = AnalyticsEvent(.page, anonymousId: "a")
        page.name = "Home"
        page.context = ["page": ["url": "https://example.com/", "referrer": "https://example.org/"]]
        #expect(try encoded(page)["params"]?["page_location"] == "https://example.com/")
        #expect(try encoded(page)["params"]?["page_referrer"] == "https://example.org/")
        var screen = AnalyticsEvent(.screen, anonymousId: "a")
        screen.name = "Cart"
        #expect(try encoded(screen)["name"] == "screen_view")
        #expect(try encoded(screen)["params"]?["screen_name"] == "Cart")
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        #expect(try encoded(group)["name"] == "join_group" && encoded(group)["params"]?["group_id"] == "g")
    }

    @Test(arguments: [JSONValue.null, ""])
    func `a page's property without a value leaves its place to the context, and an empty id to the user's`(
        _ nothing: JSONValue
    ) async throws {
        var page = AnalyticsEvent(.page, userId: "u", anonymousId: "")
        page.properties = ["url": nothing, "referrer": nothing]
        page.context = ["page": ["url": "https://example.com/", "referrer": "https://example.org/"]]
        let http = ScriptedHTTP((204, ""))
        #expect(try await ga4(http).deliver([page]).map(\.outcome) == [.accepted])
        let params = try #require(http.requests[0].jsonBody["events"]?[0]?["params"])
        #expect(params["page_location"] == "https://example.com/" && params["page_referrer"] == "https://example.org/")
        #expect(http.requests[0].jsonBody["client_id"] == "u")
        page.properties["page_location"] = "https://example.com/own"
        #expect(try encoded(page)["params"]?["page_location"] == "https://example.com/own")
    }

    @Test func `events that Google would silently drop are refused`() throws {
        func refused(_ event: AnalyticsEvent) -> Bool { (try? GA4Events.encode(event, now: now)) == nil }
        #expect(!refused(.track("a", userId: "u")))
        for name in ["1a", "session_start", "dynamic_link_app_open", "ga_x", "", String(repeating: "x", count: 41)] {
            #expect(refused(.track(name, userId: "u")), "\(name)")
        }
        #expect(refused(AnalyticsEvent(.alias, userId: "u")))
        let many = JSONObject((0..<25).map { ("p\($0)", 1) })
        #expect(refused(.track("a", many, userId: "u")))
        #expect(refused(.track("a", ["2x": 1], userId: "u")))
        var identify = AnalyticsEvent(.identify, userId: "u")
        identify.traits = ["a_name_of_more_than_24_characters": 1]
        #expect(refused(identify))
        var old = AnalyticsEvent.track("a", userId: "u")
        old.timestamp = Timestamp(parsing: "2026-01-28T09:29:59Z")
        #expect(refused(old))
        old.timestamp = Timestamp(parsing: "2026-01-28T09:30:01Z")
        #expect(!refused(old))
    }

    @Test(arguments: [
        ("日本", #"the event "日本""#), ("1a", #"the event "1a""#), ("ga_x", #"the event "ga_x""#), ("", #"the event """#),
    ])
    func `a name that Google does not take is quoted as it was given`(_ name: String, _ quoted: String) {
        let error = #expect(throws: PluginError.self) { try GA4Events.encode(.track(name, userId: "u"), now: now) }
        #expect(error?.message.contains(quoted) == true && error?.message.contains("begins with a letter") == true)
    }

    @Test func `properties and traits that would be sent by one name are refused`() throws {
        for properties in [["a b": 1, "a-b": 2], ["a": ["b": 3], "a_b": 5], ["page url": 1, "page_url": 2]]
            as [JSONObject]
        {
            let error = #expect(throws: PluginError.self) {
                try GA4Events.encode(.track("a", properties, userId: "u"), now: now)
            }
            #expect(error?.status == .invalid && error?.message.contains("and so would another one") == true)
            var identify = AnalyticsEvent(.identify, userId: "u")
            identify.traits = properties
            #expect(throws: PluginError.self) { try GA4Events.encode(identify, now: now) }
        }
        #expect(try encoded(.track("a", ["a b": 1, "a-c": 2], userId: "u"))["params"]?["a_b"] == 1)
    }

    @Test func `a user's id that Google would not take is rejected, and what a request says of a person always fits`()
        async throws
    {
        let (longest, long) = (String(repeating: "\u{1}", count: 256), String(repeating: "x", count: 257))
        let http = ScriptedHTTP((204, ""), (204, ""))
        let strangers = [AnalyticsEvent.track("a", userId: long), .track("a", userId: "u", anonymousId: long)]
        #expect(try await ga4(http).deliver(strangers).map(\.outcome) == [.rejected, .rejected])
        #expect(http.requests.isEmpty)
        var identify = AnalyticsEvent(.identify, userId: longest, anonymousId: longest)
        let names = (0..<25).map { "a_name_of_24_characters\(Character(UnicodeScalar(UInt8(65 + $0))))" }
        identify.traits = JSONObject(names.map { ($0, .string(String(repeating: "\u{1}", count: 36))) })
        #expect(try await ga4(http).deliver([identify]) == [.accepted])
        let size = try #require(http.requests.first?.body.count)
        let event = try GA4Events.encode(identify, now: now).count
        #expect(size - event + GA4Requests.limits.batchBytes <= 130_000)
    }

    @Test func `texts are cut, and items stay as they are`() throws {
        let long = JSONValue.string(String(repeating: "x", count: 200))
        let event = try encoded(
            .track("a", ["t": long, "items": [["item_id": "i"]], "list": [1, 2], "b": true], userId: "u")
        )
        #expect(event["params"]?["t"]?.string?.count == 100)
        // To Swift, this is one character.
        let accented = JSONValue.string("e" + String(repeating: "\u{301}", count: 200))
        let cut = try encoded(.track("a", ["t": accented], userId: "u"))
        #expect(cut["params"]?["t"]?.string?.unicodeScalars.count == 100)
        #expect(event["params"]?["items"] == [["item_id": "i"]])
        #expect(event["params"]?["list"] == "[1,2]" && event["params"]?["b"] == "true")
    }

    @Test func `with validation, what the server objects to is rejected and not collected`() async throws {
        let fine = (200, #"{"validationMessages":[]}"#)
        let problem = (200, #"{"validationMessages":[{"fieldPath":"events","description":"bad name"}]}"#)
        let http = ScriptedHTTP(problem, fine, (204, ""), problem)
        let answers = try await ga4(http, validate: true).deliver([.track("a", userId: "u"), .track("b", userId: "u")])
        #expect(answers.map(\.outcome) == [.accepted, .rejected])
        #expect(answers[1].reason == "the validation server objects: bad name")
        #expect(http.paths == ["/debug/mp/collect", "/debug/mp/collect", "/mp/collect", "/debug/mp/collect"])
    }

    @Test func `opening asks only the validation server, and claims no more than that it answers`() async throws {
        let http = ScriptedHTTP((200, #"{"validationMessages":[]}"#))
        #expect(try await ga4(http).open().map(\.kind) == [.reachable])
        #expect(http.paths == ["/debug/mp/collect"])
        let problem = (200, #"{"validationMessages":[{"description":"no stream"}]}"#)
        let error = await #expect(throws: PluginError.self) { try await ga4(ScriptedHTTP(problem)).open() }
        #expect(error?.status == .invalid)
    }
}
