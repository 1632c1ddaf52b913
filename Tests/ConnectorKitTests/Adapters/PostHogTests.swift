// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import posthog

/// The adapter of PostHog.
@Suite struct PostHogTests {
    private let events = PostHogEvents(groupType: "company")
    private let now = Timestamp(parsing: "2026-01-31T09:30:00Z") ?? Timestamp(nanoseconds: 0)

    private func posthog(_ http: ScriptedHTTP) throws -> PostHog {
        try PostHog(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "apiKey": "{{secret:apiKey}}", "groupType": "company",
            ]),
            host: .scripted(http)
        )
    }

    @Test func `a batch carries the key as the only placeholder`() async throws {
        let http = ScriptedHTTP((200, #"{"status":1}"#))
        let answers = try await posthog(http).deliver([.track("{{secret:apiKey}}", userId: "u")])
        #expect(answers.map(\.outcome) == [.accepted])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/batch/")
        #expect(request.hasPlaceholdersInBody)
        #expect(request.text.ranges(of: "{{").count == 1)
        #expect(request.jsonBody["api_key"] == "{{secret:apiKey}}")
        #expect(request.jsonBody["batch"]?[0]?["event"] == "{{secret:apiKey}}")
    }

    @Test func `only status 200 is a success`() async throws {
        let answers = try await posthog(ScriptedHTTP((500, #"{"detail":"no"}"#))).deliver([.track("a", userId: "u")])
        #expect(answers.first?.outcome == .retry)
        let empty = try await posthog(ScriptedHTTP((204, ""))).deliver([.track("a", userId: "u")])
        #expect(empty.first?.outcome == .retry && empty.first?.code == .protocolViolation)
    }

    @Test func `calls become events of PostHog's own`() throws {
        var alias = AnalyticsEvent(.alias, userId: "u")
        alias.previousId = "p"
        let encoded = try JSONValue(parsing: events.encode(alias, now: now))
        #expect(encoded["event"] == "$create_alias")
        #expect(encoded["distinct_id"] == "p")
        #expect(encoded["properties"]?["alias"] == "u")
        // PostHog counts code points; to Swift, this is one character.
        let long = "e" + String(repeating: "\u{301}", count: 200)
        #expect(throws: PluginError.self) { try events.encode(.track("a", userId: long), now: now) }
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        group.traits = ["plan": "x"]
        let properties = try JSONValue(parsing: events.encode(group, now: now))["properties"]
        #expect(properties?["$group_type"] == "company")
        #expect(properties?["$group_key"] == "g")
        #expect(properties?["$group_set"]?["plan"] == "x")
        var identify = AnalyticsEvent(.identify, userId: "u", anonymousId: "a")
        identify.traits = ["email": "e"]
        let identified = try JSONValue(parsing: events.encode(identify, now: now))
        #expect(identified["event"] == "$identify")
        #expect(identified["properties"]?["$set"]?["email"] == "e")
        #expect(identified["properties"]?["$anon_distinct_id"] == "a")
        // PostHog would merge the person with the one of the cut id.
        identify.anonymousId = long
        alias.userId = long
        for event in [identify, alias] { #expect(throws: PluginError.self) { try events.encode(event, now: now) } }
    }

    @Test func `an event without the user's address is not located, unless it says so itself`() throws {
        func properties(_ properties: JSONObject, ip: JSONValue? = nil) throws -> JSONValue? {
            var event = AnalyticsEvent.track("a", properties, userId: "u")
            event.context["ip"] = ip
            return try JSONValue(parsing: events.encode(event, now: now))["properties"]
        }
        #expect(try properties([:])?["$geoip_disable"] == true)
        #expect(try properties([:], ip: .null)?["$geoip_disable"] == true)
        #expect(try properties([:], ip: .null)?["$ip"] == nil)
        #expect(try properties(["$ip": .null, "$geoip_disable": .null])?["$geoip_disable"] == true)
        #expect(try properties([:], ip: "192.0.2.1")?["$ip"] == "192.0.2.1")
        #expect(try properties([:], ip: "192.0.2.1")?["$geoip_disable"] == nil)
        #expect(try properties(["$ip": "192.0.2.1"])?["$geoip_disable"] == nil)
        #expect(try properties(["$geoip_disable": false])?["$geoip_disable"] == false)
    }

    @Test func `properties of the application that have the names of the adapter's are kept`() throws {
        var page = AnalyticsEvent(.page, userId: "u")
        page.properties = ["context": "mine", "$lib": "x", "category": "own"]
        page.category = "C"
        page.context = ["app": ["name": "shop"]]
        let properties = try JSONValue(parsing: events.encode(page, now: now))["properties"]
        #expect(properties?["context"] == ["app": ["name": "shop"]] && properties?["context_"] == "mine")
        #expect(properties?["$lib"] == "connector-host" && properties?["$lib_"] == "x")
        #expect(properties?["category"] == "own")
        page.properties["category"] = .null
        #expect(try JSONValue(parsing: events.encode(page, now: now))["properties"]?["category"] == "C")
    }

    @Test func `the uuid follows from the message's id in every attempt`() {
        let uuid = "01234567-89ab-cdef-0123-456789abcdef"
        #expect(StableUUID.from(uuid) == uuid)
        #expect(StableUUID.from("order-7") == StableUUID.from("order-7"))
        #expect(StableUUID.from("order-7") != StableUUID.from("order-8"))
        #expect(StableUUID.from("order-7").count == 36)
    }

    @Test(arguments: [#"{"flags":{}}"#, #"{"featureFlags":[]}"#, #"{"errorsWhileComputingFlags":false}"#])
    func `the flags of every version prove the key`(_ flags: String) async throws {
        #expect(try await posthog(ScriptedHTTP((200, flags))).open().map(\.kind) == [.authenticated])
    }

    @Test func `events beyond the project's quota are not delivered, whatever the status`() async throws {
        let http = ScriptedHTTP((200, #"{"status":"Ok","quota_limited":["events"]}"#))
        let answers = try await posthog(http).deliver([.track("a", userId: "u")])
        #expect(answers.first?.outcome == .retry && answers.first?.code == .rateLimited)
        let recordings = ScriptedHTTP((200, #"{"status":"Ok","quota_limited":["recordings"]}"#))
        #expect(try await posthog(recordings).deliver([.track("a", userId: "u")]).first?.outcome == .accepted)
    }

    @Test func `a slow search for faulty events answers in time for those that it has found`() async throws {
        let clock = StoppedClock()
        let refusal = HTTPResponse(status: 400, body: Array("event submitted without a distinct_id".utf8))
        let refusals = Array(repeating: ScriptedHTTP.Answer.response(refusal), count: 200)
        let http = ScriptedHTTP(refusals, delay: (.milliseconds(200), clock))
        let fields = PluginConfiguration(json: ["endpoint": "http://vendor.example", "apiKey": "k", "groupType": "c"])
        let posthog = try PostHog(configuration: fields, host: .scripted(http, clock: clock))
        let events = (1...100).map { AnalyticsEvent.track("e\($0)", userId: "u") }
        let answers = try await Deadline.apply(30_000_000_000, on: clock) { try await posthog.deliver(events) }
        let rejected = answers.prefix { $0.outcome == .rejected }
        #expect(clock.monotonic < 30_000_000_000 && (30..<100).contains(rejected.count))
        #expect(answers.dropFirst(rejected.count).allSatisfy { $0.outcome == .retry && $0.retryAfter == .zero })
    }

    @Test func `an event that is too large for PostHog's queue is rejected, and the others are delivered`() async throws
    {
        let http = try SimulatedHTTP("posthog", configuration: ["apiKey": "phc_demo"])
        let fields = PluginConfiguration(json: [
            "endpoint": "http://vendor.example", "apiKey": "{{secret:apiKey}}", "groupType": "company",
        ])
        let posthog = try PostHog(configuration: fields, host: Host(http: http, clock: StoppedClock()))
        // Each quotation mark has two bytes in the event, and four in the queue.
        let large: JSONObject = ["text": .string(String(repeating: "\"", count: 300_000))]
        let answers = try await posthog.deliver([
            .track("a", userId: "u"), .track("b", large, userId: "u"), .track("c", userId: "u"),
        ])
        #expect(answers.map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(answers[1].code == .tooLarge)
        #expect(answers[1].reason == "posthog answered HTTP 400: maximum event size exceeded")
    }

    @Test(arguments: ["payload empty after filtering invalid event types", "replay event has invalid session id"])
    func `an event that PostHog's filters refuse is rejected in its words`(_ words: String) async throws {
        let answers = try await posthog(ScriptedHTTP((400, words))).deliver([.track("a", userId: "u")])
        #expect(answers.map(\.outcome) == [.rejected] && answers[0].reason?.hasSuffix(words) == true)
    }

    @Test(arguments: [JSONValue.null, ""])
    func `a page without an address or a title of its own has those of the context and its name`(_ nothing: JSONValue)
        throws
    {
        var page = AnalyticsEvent(.page, userId: "u")
        page.name = "Home"
        page.properties = ["url": nothing, "title": nothing]
        page.context = ["page": ["url": "http://shop.example/"], "ip": nothing]
        let properties = try JSONValue(parsing: events.encode(page, now: now))["properties"]
        #expect(properties?["$current_url"] == "http://shop.example/" && properties?["title"] == "Home")
        #expect(properties?["$ip"] == nil && properties?["$geoip_disable"] == true)
    }

    @Test(arguments: [404, 408, 429, 500, 503])
    func `a server without flags is only reachable, and so is one whose flags are away`(_ status: Int) async throws {
        let http = ScriptedHTTP((status, ""), (400, "request holds no event"))
        #expect(try await posthog(http).open().map(\.kind) == [.reachable])
        await #expect(throws: PluginError.self) { try await posthog(ScriptedHTTP((status, ""), (503, ""))).open() }
    }

    @Test func `a wrong key is unauthorised, in PostHog's words`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await posthog(ScriptedHTTP((401, #"{"detail":"Project API key invalid."}"#))).open()
        }
        #expect(error?.status == .unauthorized)
        #expect(error?.message.hasSuffix("Project API key invalid.") == true)
    }
}
