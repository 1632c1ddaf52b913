// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import amplitude

/// The adapter of Amplitude.
@Suite struct AmplitudeTests {
    private let now = Timestamp(parsing: "2026-01-31T09:30:00Z") ?? Timestamp(nanoseconds: 0)

    private func amplitude(_ http: ScriptedHTTP) throws -> Amplitude {
        try Amplitude(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "apiKey": "{{secret:apiKey}}", "groupType": "team",
                "minIdLength": 3,
            ]),
            host: .scripted(http)
        )
    }

    private static let taken = (200, #"{"code":200,"events_ingested":1,"payload_size_bytes":1,"server_upload_time":1}"#)

    @Test func `an upload carries the key as its only placeholder, and each event its identity`() async throws {
        let http = ScriptedHTTP(Self.taken)
        var event = AnalyticsEvent.track("{{secret:apiKey}}", ["a": 1], userId: "u", anonymousId: "d")
        event.context = ["app": ["version": "1.2"], "os": ["name": "Linux"], "ip": "192.0.2.1"]
        #expect(try await amplitude(http).deliver([event]).map(\.outcome) == [.accepted])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/2/httpapi")
        #expect(request.hasPlaceholdersInBody && request.text.ranges(of: "{{").count == 1)
        #expect(request.jsonBody["options"]?["min_id_length"] == 3)
        let sent = try #require(request.jsonBody["events"]?[0])
        #expect(sent["insert_id"] == .string(event.messageId))
        #expect(sent["user_id"] == "u" && sent["device_id"] == "d" && sent["event_type"] == "{{secret:apiKey}}")
        #expect(sent["time"] == 1_769_851_800_000)
        #expect(sent["app_version"] == "1.2" && sent["os_name"] == "Linux" && sent["ip"] == "192.0.2.1")
    }

    @Test func `an empty anonymous id is no device's`() throws {
        let event = AnalyticsEvent.track("a", userId: "u", anonymousId: "")
        let sent = try JSONValue(parsing: AmplitudeEvents(groupType: "team").encode(event, now: now))
        #expect(sent["user_id"] == "u" && sent["device_id"] == nil)
    }

    @Test func `a group with traits becomes two events, and an alias is refused`() async throws {
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        group.traits = ["seats": 5]
        let events = AmplitudeEvents(groupType: "team")
        let pair = try JSONValue(parsing: [UInt8(ascii: "[")] + events.encode(group, now: now) + [UInt8(ascii: "]")])
        #expect(pair.array?.map { $0["event_type"] } == ["$identify", "$groupidentify"])
        #expect(pair[0]?["user_properties"]?["$set"]?["team"] == "g" && pair[1]?["groups"]?["team"] == "g")
        #expect(pair[1]?["group_properties"]?["$set"]?["seats"] == 5)
        #expect(pair[0]?["insert_id"] != pair[1]?["insert_id"])
        let alias = AnalyticsEvent(.alias, userId: "u")
        #expect(throws: PluginError.self) { try events.encode(alias, now: now) }
    }

    @Test func `events that Amplitude blames are rejected, and the others sent again`() async throws {
        let refusal =
            #"{"code":400,"error":"bad","events_with_missing_fields":{"user_id":[1,2]},"silenced_events":[9,-1]}"#
        let http = ScriptedHTTP((400, refusal), Self.taken)
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        group.traits = ["seats": 5]
        let events = [AnalyticsEvent.track("a", userId: "u"), group, .track("c", userId: "u")]
        let answers = try await amplitude(http).deliver(events)
        #expect(answers.map(\.outcome) == [.accepted, .rejected, .accepted])
        #expect(answers[1].reason == "amplitude answered HTTP 400: bad, events_with_missing_fields.user_id")
        #expect(http.requests.map { $0.jsonBody["events"]?.array?.count } == [4, 2])
    }

    @Test func `throttled events wait for 30 seconds, and the others are sent again`() async throws {
        let http = ScriptedHTTP((429, #"{"code":429,"error":"slow","throttled_events":[0]}"#), Self.taken)
        let answers = try await amplitude(http).deliver([.track("a", userId: "u"), .track("b", userId: "v")])
        #expect(answers.map(\.outcome) == [.retry, .accepted])
        #expect(answers[0].retryAfter == .seconds(30) && answers[0].code == .failed, "it holds up no other event")
        let whole = try await amplitude(ScriptedHTTP((429, "{}"))).deliver([.track("a", userId: "u")])
        #expect(whole.map(\.retryAfter) == [.seconds(30)] && whole.map(\.code) == [.rateLimited])
    }

    @Test func `a refused key is unauthorized, and not quoted`() async throws {
        let refusal = (400, #"{"code":400,"error":"Invalid API key: s3cr3t"}"#)
        let error = await #expect(throws: PluginError.self) {
            try await amplitude(ScriptedHTTP(refusal)).deliver([.track("a", userId: "u")])
        }
        #expect(error?.status == .unauthorized && error?.message.contains("s3cr3t") == false)
        let incomplete = (400, #"{"code":400,"error":"Request missing required field","missing_field":"events"}"#)
        #expect(
            try await amplitude(ScriptedHTTP(incomplete, refusal)).open().map(\.kind) == [.reachable, .authenticated]
        )
        #expect(try await amplitude(ScriptedHTTP(incomplete, incomplete)).open().map(\.kind) == [.reachable])
        await #expect(throws: PluginError.self) { try await amplitude(ScriptedHTTP(refusal)).open() }
    }
}
