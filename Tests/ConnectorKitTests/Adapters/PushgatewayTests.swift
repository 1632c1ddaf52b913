// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import pushgateway

/// The adapter of Prometheus' Pushgateway.
@Suite struct PushgatewayTests {
    private static let nothing = (200, #"{"status":"success","data":[]}"#)

    private func pushgateway(_ http: ScriptedHTTP, _ more: JSONObject = [:]) throws -> Pushgateway {
        var fields: JSONObject = ["endpoint": "http://vendor.example", "job": "my shop"]
        for member in more.members { fields[member.name] = member.value }
        return try Pushgateway(configuration: PluginConfiguration(fields), host: .scripted(http))
    }

    private func lines(_ request: HTTPRequest?) -> [Substring] {
        (request?.text ?? "").split(separator: "\n").filter { !$0.hasPrefix("#") }
    }

    @Test func `a push carries the totals of the group, and names its labels in the path`() async throws {
        let http = ScriptedHTTP(Self.nothing, (200, ""), (200, ""))
        let gate = try pushgateway(http, ["instance": "a b"])
        let events = [
            AnalyticsEvent.track("Order", userId: "u"), .track("Order", userId: "v"), .track("Visit", userId: "u"),
        ]
        #expect(try await gate.deliver(events).map(\.outcome) == [.accepted, .accepted, .accepted])
        try await gate.identify(event: ["userId": "u"])
        #expect(http.paths == ["/api/v1/metrics"] + Array(repeating: "/metrics/job/my%20shop/instance/a%20b", count: 2))
        #expect(http.requests[0].headers["Cache-Control"] == "no-cache")
        #expect(
            lines(http.requests.last) == [
                #"events_total{event="",type="identify"} 1"#, #"events_total{event="Order",type="track"} 2"#,
                #"events_total{event="Visit",type="track"} 1"#,
            ]
        )
        #expect(http.requests.last?.text.contains("# TYPE events_total counter\n") == true)
    }

    @Test(arguments: ["job", "instance"], ["", ".", "..", "a/b"])
    func `a label that cannot be a segment of the path is refused`(_ label: String, _ value: String) {
        let error = #expect(throws: PluginError.self) {
            _ = try pushgateway(ScriptedHTTP(), [label: .string(value)])
        }
        #expect(error?.status == .invalid && error?.message.contains(label) == true)
    }

    @Test func `a push that failed is repeated with the same totals`() async throws {
        let http = ScriptedHTTP(Self.nothing, (503, ""), (200, ""))
        let gate = try pushgateway(http)
        let event = AnalyticsEvent.track("Order", userId: "u")
        #expect(try await gate.deliver([event]).map(\.outcome) == [.retry])
        #expect(try await gate.deliver([event]).map(\.outcome) == [.accepted])
        #expect(http.requests[1].text == http.requests[2].text)
    }

    @Test func `no total falls if fewer events follow a push whose answer was lost, and none is counted twice`()
        async throws
    {
        let http = ScriptedHTTP(Self.nothing, (504, ""), (200, ""), (200, ""), (200, ""))
        let gate = try pushgateway(http)
        let events = (1...4).map { _ in AnalyticsEvent.track("Order", userId: "u") }
        #expect(try await gate.deliver(events).allSatisfy { $0.outcome == .retry })
        for part in [events[..<2], events[2...], events[..<1]] {
            #expect(try await gate.deliver(Array(part)).allSatisfy { $0.outcome == .accepted })
        }
        let totals = http.requests.dropFirst().map { lines($0).first?.split(separator: " ").last }
        #expect(totals == ["4", "4", "4", "5"])
    }

    @Test func `what the gateway refuses is in no later push, even if it was in one whose answer was lost`()
        async throws
    {
        let refusal = (413, "too large")
        let http = ScriptedHTTP(Self.nothing, (504, ""), refusal, Self.nothing, (200, ""), refusal)
        let gate = try pushgateway(http)
        let events = [AnalyticsEvent.track("Order", userId: "u"), .track("Bad", userId: "u")]
        #expect(try await gate.deliver(events).map(\.outcome) == [.retry, .retry])
        // It has no limit of its own, so the 413 is that of a gateway on the way.
        #expect(try await gate.deliver(events).map(\.outcome) == [.accepted, .retry])
        #expect(lines(http.requests[4]) == [#"events_total{event="Order",type="track"} 1"#])
    }

    @Test func `no total falls if a push that is refused follows one whose answer was lost`() async throws {
        let order: Substring = #"events_total{event="Order",type="track"} 1"#
        let metrics = """
            {"status":"success","data":[{"labels":{"job":"my shop"},"events_total":{"metrics":[
                {"labels":{"event":"Order","type":"track"},"value":"1"}]}}]}
            """
        let away = (503, "")
        let http = ScriptedHTTP(
            Self.nothing,
            (504, ""),
            (400, "pushed metrics are inconsistent"),
            away,
            (400, "pushed metrics are inconsistent"),
            (200, metrics),
            (200, "")
        )
        let gate = try pushgateway(http)
        #expect(try await gate.deliver([.track("Order", userId: "u")]).map(\.outcome) == [.retry])
        // Whether the gateway has the first push is not known before it says so.
        #expect(try await gate.deliver([.track("Bad", userId: "u")]).map(\.outcome) == [.retry])
        #expect(try await gate.deliver([.track("Bad", userId: "u")]).first?.code == .conflict)
        #expect(try await gate.deliver([.track("Visit", userId: "u")]).map(\.outcome) == [.accepted])
        #expect(lines(http.requests.last) == [order, #"events_total{event="Visit",type="track"} 1"#])
    }

    @Test func `counting continues from the totals that the gateway has for the group`() async throws {
        let metrics = """
            {"status":"success","data":[
              {"labels":{"job":"my shop","instance":"other"},"events_total":{"metrics":[
                {"labels":{"event":"Order","type":"track"},"value":"70"}]}},
              {"labels":{"job":"my shop"},"events_total":{"metrics":[
                {"labels":{"event":"Order","instance":"","job":"my shop","type":"track"},"value":"1e+06"},
                {"labels":{"event":"a\\"\\\\\\n","type":"track"},"value":"3"},
                {"labels":{"event":"Order"},"value":"3"}, {"labels":{"type":"track"},"value":"-1"}]}}]}
            """
        let http = ScriptedHTTP((200, metrics), (200, ""))
        try await pushgateway(http).track(event: ["event": "Order", "userId": "u"])
        #expect(
            lines(http.requests.last) == [
                #"events_total{event="Order",type="track"} 1000001"#, #"events_total{event="a\"\\\n",type="track"} 3"#,
            ]
        )
    }

    @Test func `a total that cannot grow stays at its maximum`() async throws {
        let metrics = """
            {"status":"success","data":[{"labels":{"job":"my shop"},"events_total":{"metrics":[
                {"labels":{"event":"Order","type":"track"},"value":"18446744073709549568"}]}}]}
            """
        let http = ScriptedHTTP((200, metrics), (200, ""))
        let events = (0..<2100).map { _ in AnalyticsEvent.track("Order", userId: "u") }
        #expect(try await pushgateway(http).deliver(events).allSatisfy { $0.outcome == .accepted })
        #expect(lines(http.requests.last) == [#"events_total{event="Order",type="track"} \#(UInt64.max)"#])
    }

    @Test func `events beyond the counters that a group may have are rejected, the others are counted`() async throws {
        let http = ScriptedHTTP(
            [.response(HTTPResponse(status: 200, body: Array(Self.nothing.1.utf8)))]
                + Array(repeating: .response(HTTPResponse(status: 200)), count: 20)
        )
        let events = (0...PushedCounters.limit).map { AnalyticsEvent.track("E\($0)", userId: "u") }
        let answers = try await pushgateway(http).deliver(events)
        #expect(answers.dropLast().allSatisfy { $0.outcome == .accepted })
        #expect(answers.last?.outcome == .rejected && answers.last?.code == .invalid)
    }

    @Test(arguments: [400, 422])
    func `a push that the gateway refuses is repeated until what it objects to is gone, and no event is rejected`(
        status: Int
    ) async throws {
        // The reason is at the end, after all labels of the metric.
        let words = "pushed metrics are invalid or inconsistent: \(String(repeating: "x", count: 300)) is not a COUNTER"
        let http = ScriptedHTTP(Self.nothing, (status, words), (status, words), (200, ""))
        let gate = try pushgateway(http)
        let events = (1...3).map { AnalyticsEvent.track("E\($0)", userId: "u") }
        for _ in 1...2 {
            let answers = try await gate.deliver(events)
            #expect(answers.allSatisfy { $0.outcome == .retry && $0.code == .conflict })
            #expect(answers.allSatisfy { $0.reason?.hasSuffix("is not a COUNTER") == true })
        }
        #expect(try await gate.deliver(events).allSatisfy { $0.outcome == .accepted })
        #expect(http.requests.count == 4, "a refused push is not divided")
        #expect(http.requests.dropFirst().allSatisfy { $0.text == http.requests[1].text })
    }

    @Test(arguments: [400, 422])
    func `a server that refuses to tell its status is no gateway`(status: Int) async throws {
        let gate = try pushgateway(ScriptedHTTP((status, "unsupported path requested: /api/v1/status")))
        let error = await #expect(throws: PluginError.self) { try await gate.open() }
        #expect(error?.status == .protocolViolation && error?.message.contains("unsupported path") == true)
    }

    @Test func `credentials are proved when the same is refused without them`() async throws {
        let status = (200, #"{"status":"success","data":{"build_information":{"version":"1.5.1"}}}"#)
        let fields: JSONObject = ["username": "ada", "password": "{{secret:password}}"]
        #expect(
            try await pushgateway(ScriptedHTTP(status, (401, "")), fields).open().map(\.kind)
                == [.reachable, .authenticated]
        )
        #expect(try await pushgateway(ScriptedHTTP(status, status), fields).open().map(\.kind) == [.reachable])
        #expect(try await pushgateway(ScriptedHTTP(status)).open().map(\.kind) == [.reachable])
    }

    @Test(arguments: ["", "a/b", "a/\u{301}b"])
    func `a job that cannot stand in a path is invalid`(_ job: JSONValue) {
        #expect(throws: PluginError.self) { try pushgateway(ScriptedHTTP(), ["job": job]) }
    }
}
