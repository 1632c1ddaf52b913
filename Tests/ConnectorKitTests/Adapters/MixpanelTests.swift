// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import mixpanel

/// The adapter of Mixpanel.
@Suite struct MixpanelTests {
    private func mixpanel(_ http: ScriptedHTTP, clock: StoppedClock = StoppedClock()) throws -> Mixpanel {
        try Mixpanel(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "token": "{{secret:token}}", "groupKey": "team",
            ]),
            host: .scripted(http, clock: clock)
        )
    }

    private static let imported = (200, #"{"code":200,"num_records_imported":1,"status":"OK"}"#)
    private static let updated = (200, #"{"status":1,"error":null}"#)

    @Test func `an import carries the token in its header, and each event its identity and its ids`() async throws {
        let http = ScriptedHTTP(Self.imported)
        var page = AnalyticsEvent(.page, anonymousId: "d")
        page.name = "Home"
        let track = AnalyticsEvent.track("Order", ["total": 42.5], userId: "u", anonymousId: "d")
        #expect(try await mixpanel(http).deliver([track, page]).map(\.outcome) == [.accepted, .accepted])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/import?strict=1")
        #expect(request.headers["Authorization"] == "Basic {{base64:{{secret:token}}:}}")
        #expect(request.isCompressed && !request.hasPlaceholdersInBody)
        let properties = try #require(request.jsonBody[0]?["properties"])
        #expect(properties["$insert_id"] == .string(track.messageId) && properties["total"] == 42.5)
        #expect(properties["distinct_id"] == "u" && properties["$user_id"] == "u" && properties["$device_id"] == "d")
        #expect(properties["time"] == 1_769_851_800_000)
        #expect(request.jsonBody[1]?["event"] == "Page Viewed")
        #expect(request.jsonBody[1]?["properties"]?["name"] == "Home")
        #expect(request.jsonBody[1]?["properties"]?["distinct_id"] == "$device:d")
        #expect(request.jsonBody[1]?["properties"]?["$device_id"] == "d")
    }

    @Test func `events and profiles carry the user's address, or 0, so that Mixpanel does not locate the host`()
        async throws
    {
        for address in ["192.0.2.1", .null, nil] as [JSONValue?] {
            let http = ScriptedHTTP(Self.imported, Self.updated)
            var (track, identify) = (AnalyticsEvent.track("a", userId: "u"), AnalyticsEvent(.identify, userId: "u"))
            track.context["ip"] = address
            identify.context["ip"] = address
            _ = try await mixpanel(http).deliver([track, identify])
            let expected = JSONValue.string(address?.string ?? "0")
            #expect(http.requests[0].jsonBody[0]?["properties"]?["ip"] == expected)
            #expect(http.requests[1].jsonBody[0]?["$ip"] == expected)
        }
        for (address, expected) in [("192.0.2.1", "192.0.2.1"), (.null, "0")] as [(JSONValue, JSONValue)] {
            let http = ScriptedHTTP(Self.imported)
            _ = try await mixpanel(http).deliver([.track("a", ["ip": address], userId: "u")])
            #expect(http.requests[0].jsonBody[0]?["properties"]?["ip"] == expected)
        }
    }

    @Test func `properties of the application that have the names of the adapter's are kept under others`() async throws
    {
        let http = ScriptedHTTP(Self.imported)
        let event = AnalyticsEvent.track("a", ["time": "12:30", "distinct_id": "mine", "$insert_id": 7], userId: "u")
        _ = try await mixpanel(http).deliver([event])
        let properties = try #require(http.requests[0].jsonBody[0]?["properties"])
        #expect(properties["time"] == 1_769_851_800_000 && properties["time_"] == "12:30")
        #expect(properties["distinct_id"] == "u" && properties["distinct_id_"] == "mine")
        #expect(properties["$insert_id"] == .string(event.messageId) && properties["$insert_id_"] == 7)
    }

    @Test func `an identity that Mixpanel would refuse becomes a UUID, always the same`() {
        #expect(MixpanelItems.insertId("order-7") == "order-7")
        for id in ["order 7", "", String(repeating: "x", count: 37), "größe"] {
            #expect(MixpanelItems.insertId(id).utf8.count == 36)
            #expect(MixpanelItems.insertId(id) == MixpanelItems.insertId(id))
        }
    }

    @Test func `traits go to profiles, whose token is the only placeholder`() async throws {
        let http = ScriptedHTTP(Self.updated, Self.updated)
        var identify = AnalyticsEvent(.identify, userId: "u")
        identify.traits = ["name": "{{secret:token}}"]
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        group.traits = ["seats": 5]
        #expect(try await mixpanel(http).deliver([identify, group]).map(\.outcome) == [.accepted, .accepted])
        #expect(http.paths == ["/engage", "/groups"])
        let users = http.requests[0]
        #expect(users.hasPlaceholdersInBody && users.text.ranges(of: "{{").count == 2)
        #expect(users.jsonBody[0]?["$set"]?["name"] == "{{secret:token}}")
        #expect(users.jsonBody[1]?["$union"]?["team"] == ["g"])
        #expect(users.jsonBody.array?.allSatisfy { $0["$token"] == "{{secret:token}}" } == true)
        #expect(
            http.requests[1].jsonBody[0]?["$group_id"] == "g" && http.requests[1].jsonBody[0]?["$set"]?["seats"] == 5
        )
    }

    @Test func `an identify with both ids is an event, too, by which Mixpanel joins them`() async throws {
        let http = ScriptedHTTP(Self.imported, Self.updated)
        var identify = AnalyticsEvent(.identify, userId: "u", anonymousId: "a")
        identify.traits = ["plan": "pro"]
        #expect(try await mixpanel(http).deliver([identify]).map(\.outcome) == [.accepted])
        #expect(http.paths == ["/import", "/engage"])
        let event = try #require(http.requests[0].jsonBody[0])
        #expect(event["event"] == "User Identified")
        let properties = try #require(event["properties"])
        #expect(properties["$user_id"] == "u" && properties["$device_id"] == "a" && properties["distinct_id"] == "u")
        #expect(properties["$insert_id"] == .string(identify.messageId) && properties["plan"] == nil)
        let profile = try #require(http.requests[1].jsonBody[0])
        #expect(profile["$distinct_id"] == "u" && profile["$set"] == ["plan": "pro"])
    }

    @Test func `an older identify that is to be repeated does not replace what a newer one has set`() async throws {
        let http = ScriptedHTTP((503, "away"), Self.imported, Self.updated)
        var older = AnalyticsEvent(.identify, userId: "u", anonymousId: "a")
        older.traits = ["plan": "free"]
        var newer = AnalyticsEvent(.identify, userId: "u")
        newer.traits = ["plan": "pro"]
        let mixpanel = try mixpanel(http)
        let answers = try await mixpanel.deliver([older, newer])
        #expect(answers.map(\.outcome) == [.retry, .retry] && answers.map(\.isUnsent) == [false, true])
        #expect(try await mixpanel.deliver([older, newer]).map(\.outcome) == [.accepted, .accepted])
        #expect(http.paths == ["/import", "/import", "/engage"])
        #expect(http.requests[2].jsonBody.array?.map { $0["$set"]?["plan"] } == ["free", "pro"])
    }

    @Test func `profiles are updated although the import took more than half of the time`() async throws {
        let clock = StoppedClock()
        let answers = [Self.imported, Self.updated].map { status, body in
            ScriptedHTTP.Answer.response(HTTPResponse(status: status, body: Array(body.utf8)))
        }
        let http = ScriptedHTTP(answers, delay: (.seconds(16), clock))
        let event = AnalyticsEvent(.identify, userId: "u", anonymousId: "a")
        let mixpanel = try mixpanel(http, clock: clock)
        _ = try await Deadline.apply(30_000_000_000, on: clock) { try await mixpanel.deliver([event]) }
        #expect(http.paths == ["/import", "/engage"])
    }

    @Test(arguments: [nil, ""])
    func `an identify with one id is no event`(_ anonymousId: String?) async throws {
        let http = ScriptedHTTP(Self.updated)
        let identify = AnalyticsEvent(.identify, userId: "u", anonymousId: anonymousId)
        #expect(try await mixpanel(http).deliver([identify]).map(\.outcome) == [.accepted])
        #expect(http.paths == ["/engage"])
    }

    @Test func `somebody anonymous has the same id in events and profiles`() async throws {
        let http = ScriptedHTTP(Self.imported, Self.updated)
        var group = AnalyticsEvent(.group, anonymousId: "a")
        group.groupId = "g"
        let events = [.track("a", anonymousId: "a"), AnalyticsEvent(.identify, anonymousId: "a"), group]
        #expect(try await mixpanel(http).deliver(events).map(\.outcome) == [.accepted, .accepted, .accepted])
        #expect(http.paths == ["/import", "/engage"])
        #expect(http.requests[0].jsonBody.array?.map { $0["properties"]?["distinct_id"] } == ["$device:a"])
        #expect(http.requests[1].jsonBody.array?.map { $0["$distinct_id"] } == ["$device:a", "$device:a"])
    }

    @Test(arguments: [400, 200])
    func `events that Mixpanel refuses are rejected in its words, and the others are accepted`(_ status: Int)
        async throws
    {
        let record = #"{"index":1,"$insert_id":"m","field":"properties.time","message":"too old"}"#
        let records = #"[\#(record),{"index":2},{"index":7},{}]"#
        let answer = #"{"code":\#(status),"error":"e","failed_records":\#(records),"num_records_imported":1}"#
        let http = ScriptedHTTP((status, answer))
        let events = ["a", "b", "c"].map { AnalyticsEvent.track($0, userId: "u") }
        let answers = try await mixpanel(http).deliver(events)
        #expect(answers.map(\.outcome) == [.accepted, .rejected, .rejected])
        #expect(answers[1].reason == "mixpanel refused properties.time: too old")
        #expect(http.requests.count == 1)
    }

    @Test func `events that were imported are not sent again if the profiles refuse the token`() async throws {
        let refused = (401, #"{"status":0,"error":"no"}"#)
        let events = [.track("a", userId: "u"), AnalyticsEvent(.identify, userId: "u")]
        let answers = try await mixpanel(ScriptedHTTP(Self.imported, refused)).deliver(events)
        #expect(answers.map(\.outcome) == [.accepted, .retry] && answers[1].code == .unauthorized)
        let error = await #expect(throws: PluginError.self) {
            try await mixpanel(ScriptedHTTP(refused, refused)).deliver(events)
        }
        #expect(error?.status == .unauthorized)
    }

    @Test func `a group that one kind of profile rejects is retried while the other fails, in whichever order`()
        async throws
    {
        let (rejected, away) = ((200, #"{"status":0,"error":"no"}"#), (503, "away"))
        var group = AnalyticsEvent(.group, userId: "u")
        group.groupId = "g"
        group.traits = ["seats": 5]
        let events = [.track("a", userId: "u"), group]
        for (users, groups) in [(rejected, away), (away, rejected)] {
            let answers = try await mixpanel(ScriptedHTTP(Self.imported, users, groups)).deliver(events)
            #expect(answers.map(\.outcome) == [.accepted, .retry])
        }
        let answers = try await mixpanel(ScriptedHTTP(Self.imported, Self.updated, rejected)).deliver(events)
        #expect(answers.map(\.outcome) == [.accepted, .rejected])
    }

    @Test func `a profile with status 0 is rejected in Mixpanel's words`() async throws {
        let answers = try await mixpanel(ScriptedHTTP((200, #"{"status":0,"error":"no token"}"#)))
            .deliver([AnalyticsEvent(.identify, userId: "u")])
        #expect(answers == [.rejected("no token")])
    }

    @Test(arguments: [(429, PluginStatus.rateLimited, true), (401, .unauthorized, false), (503, .unavailable, true)])
    func `a refusal of the whole import keeps Mixpanel's words`(_ status: Int, _ kind: PluginStatus, _ isRetry: Bool)
        async throws
    {
        let http = ScriptedHTTP((status, #"{"code":\#(status),"error":"why","status":"x"}"#))
        if isRetry {
            let answers = try await mixpanel(http).deliver([.track("a", userId: "u")])
            #expect(answers.map(\.outcome) == [.retry] && answers[0].reason?.hasSuffix("why") == true)
        } else {
            let error = await #expect(throws: PluginError.self) {
                try await mixpanel(http).deliver([.track("a", userId: "u")])
            }
            #expect(error?.status == kind)
        }
    }

    @Test func `an import without events proves the token where another one is refused`() async throws {
        let refused = (401, #"{"code":401,"error":"Invalid credentials","status":"Unauthorized"}"#)
        let wrong = (400, #"{"code":400,"error":"no events","status":"Bad Request"}"#)
        for answer in [Self.imported, wrong] {
            #expect(
                try await mixpanel(ScriptedHTTP(answer, refused)).open().map(\.kind) == [.reachable, .authenticated]
            )
            #expect(try await mixpanel(ScriptedHTTP(answer, answer)).open().map(\.kind) == [.reachable])
        }
        await #expect(throws: PluginError.self) { try await mixpanel(ScriptedHTTP(refused)).open() }
    }
}
