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

    @Test func `only exactly 200 is success`() async throws {
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

    @Test func `a server without flags is only reachable`() async throws {
        #expect(try await posthog(ScriptedHTTP((404, ""), (400, ""))).open().map(\.kind) == [.reachable])
    }

    @Test func `a wrong key is unauthorised, in PostHog's words`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await posthog(ScriptedHTTP((401, #"{"detail":"Project API key invalid."}"#))).open()
        }
        #expect(error?.status == .unauthorized)
        #expect(error?.message.hasSuffix("Project API key invalid.") == true)
    }
}
