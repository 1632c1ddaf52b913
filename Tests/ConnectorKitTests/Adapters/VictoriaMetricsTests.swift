// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import victoriametrics

/// The adapter of VictoriaMetrics.
@Suite struct VictoriaMetricsTests {
    private let samples = EventSamples(now: Timestamp(nanoseconds: 1_769_851_800_000_000_001))

    private func lines(_ event: AnalyticsEvent) throws -> [JSONValue] {
        try samples.lines(event).split(separator: UInt8(ascii: "\n")).map { try JSONValue(parsing: Array($0)) }
    }

    @Test func `an event is a sample, and so is every number in it`() throws {
        let event = AnalyticsEvent.track("Order", ["total": 42.5, "paid": true, "a": ["b": 3, "c": "x"]], userId: "u")
        let lines = try lines(event)
        #expect(lines.map { $0["values"] } == [[1.0], [42.5], [3.0]])
        #expect(lines.map { $0["timestamps"] } == Array(repeating: [1_769_851_800_000], count: 3))
        #expect(lines[0]["metric"] == ["__name__": "event_count", "type": "track", "event": "Order"])
        #expect(
            lines[2]["metric"]
                == ["__name__": "event_value", "type": "track", "event": "Order", "property": "a.b"]
        )
    }

    @Test func `numbers whose joined names are the same are samples of series of their own`() throws {
        let lines = try lines(.track("Order", ["a": ["b": 1], "a.b": 2], userId: "u"))
        #expect(lines.dropFirst().map { $0["metric"]?["property"] } == ["a.b", "a.b_"])
        #expect(lines.dropFirst().map { $0["values"] } == [[1.0], [2.0]])
    }

    @Test func `events that the server would ignore or cut are rejected`() throws {
        let long = String(repeating: "x", count: EventSamples.nameLimit + 1)
        #expect(throws: PluginError.self) { try samples.lines(.track(long, userId: "u")) }
        #expect(throws: PluginError.self) { try samples.lines(.track("E", [long: 1], userId: "u")) }
        // A label without a text is none, so that the number would be added to all others.
        #expect(throws: PluginError.self) { try samples.lines(.track("E", ["": 1.5], userId: "u")) }
        #expect(try lines(.track("E", ["": "x"], userId: "u")).count == 1)
        var event = AnalyticsEvent.track("E", userId: "u")
        event.timestamp = Timestamp(parsing: "2026-02-03T09:30:01Z")
        #expect(throws: PluginError.self) { try samples.lines(event) }
        event.timestamp = Timestamp(parsing: "2026-02-02T09:30:00Z")
        #expect(try lines(event).count == 1)
    }

    private func victoriaMetrics(_ http: ScriptedHTTP, username: JSONValue = "ada") throws -> VictoriaMetrics {
        var fields: JSONObject = ["endpoint": "http://vendor.example", "job": "shop"]
        if username != .null { (fields["username"], fields["password"]) = (username, "{{secret:password}}") }
        return try VictoriaMetrics(configuration: PluginConfiguration(fields), host: .scripted(http))
    }

    @Test func `an import labels all samples and carries the credentials`() async throws {
        let http = ScriptedHTTP((204, ""))
        let events = [AnalyticsEvent.track("E", userId: "u"), .track("F", userId: "u")]
        #expect(try await victoriaMetrics(http).deliver(events).map(\.outcome) == [.accepted, .accepted])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/api/v1/import?extra_label=job%3Dshop")
        #expect(request.headers["Authorization"] == "Basic {{base64:ada:{{secret:password}}}}")
        #expect(request.text.split(separator: "\n").count == 2)
    }

    @Test func `an event is rejected only if the server calls its line too long`() async throws {
        let place = #"remoteAddr: "127.0.0.1:35390"; requestURI: /api/v1/import; "#
        for (words, outcome) in [
            ("cannot read vmimport data: too long line: more than 2000 bytes", DeliveryAnswer.Outcome.rejected),
            (#"unsupported path requested: "/api/v1/import""#, .retry),
        ] {
            let http = ScriptedHTTP((400, place + words))
            let answers = try await victoriaMetrics(http).deliver([.track("E", userId: "u")])
            #expect(answers.map(\.outcome) == [outcome] && answers[0].reason?.contains(words) == true)
        }
    }

    @Test func `a busy server gets the events again after the time that it names`() async throws {
        let http = ScriptedHTTP([.response(HTTPResponse(status: 503, headers: ["Retry-After": "10"]))])
        let answer = try await victoriaMetrics(http).deliver([.track("E", userId: "u")]).first
        #expect(answer?.outcome == .retry && answer?.retryAfter == .seconds(10))
    }

    @Test func `the server's advice is told, however long its words are before that`() async throws {
        let place = "requestURI: /api/v1/import?extra_label=job%3D\(String(repeating: "x", count: 200))"
        let words = "\(place); the storage is in read-only mode; check -storage.minFreeDiskSpaceBytes"
        let answer = try await victoriaMetrics(ScriptedHTTP((503, words))).deliver([.track("E", userId: "u")]).first
        #expect(answer?.reason?.hasSuffix("check -storage.minFreeDiskSpaceBytes") == true)
    }

    @Test func `credentials are proved when the same is refused without them`() async throws {
        let kinds = try await victoriaMetrics(ScriptedHTTP((204, ""), (401, ""))).open().map(\.kind)
        #expect(kinds == [.reachable, .authenticated])
        #expect(try await victoriaMetrics(ScriptedHTTP((204, ""), (204, ""))).open().map(\.kind) == [.reachable])
        #expect(try await victoriaMetrics(ScriptedHTTP((204, "")), username: nil).open().map(\.kind) == [.reachable])
    }
}
