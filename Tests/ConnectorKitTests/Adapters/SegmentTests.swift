// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import segment

/// The adapter of Segment.
@Suite struct SegmentTests {
    private func segment(_ http: ScriptedHTTP, endpoint: String = "http://vendor.example/x") throws -> Segment {
        try Segment(
            configuration: PluginConfiguration(json: ["endpoint": .string(endpoint), "writeKey": "{{secret:writeKey}}"]
            ),
            host: .scripted(http)
        )
    }

    @Test func `a batch carries the key, the time and the events, and leaves placeholders of others alone`()
        async throws
    {
        let http = ScriptedHTTP((200, #"{"success":true}"#))
        try await segment(http).track(event: ["event": "Order", "userId": "u", "messageId": "m"])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/x/v1/batch")
        #expect(request.headers["Authorization"] == "Basic {{base64:{{secret:writeKey}}:}}")
        #expect(!request.hasPlaceholdersInBody)
        #expect(request.isCompressed)
        #expect(request.jsonBody["sentAt"] == "2026-01-31T09:30:00.000Z")
        let event = try #require(request.jsonBody["batch"]?[0])
        #expect(event["type"] == "track")
        #expect(event["messageId"] == "m")
        #expect(event["timestamp"] == "2026-01-31T09:30:00.000Z")
    }

    @Test func `settings of Segment itself are requested from where Segment serves them`() throws {
        let requests = SegmentRequests(
            endpoint: try #require(HTTPURL("https://api.segment.io")),
            writeKey: SecretPlaceholder(field: "writeKey")
        )
        #expect(
            requests.settings.url.description
                == "https://cdn-settings.segment.com/v1/projects/{{secret:writeKey}}/settings"
        )
    }

    @Test func `complete events are passed on as they came, with the library filled in`() async throws {
        let http = ScriptedHTTP((200, #"{"success":true}"#))
        let event =
            #"{ "type":"track","messageId":"m","timestamp":"2026-01-31T09:30:00.000Z","userId":"u","event":"E" "#
        let batch = JSONText(utf8: Array("[\(event)},\(event),\"properties\":{\"n\":1.50}}]".utf8))
        let answers = try await segment(http).deliver(events: batch)
        #expect(try DeliveryAnswer.answers(text: answers, count: 2) == [.accepted, .accepted])
        let library = #","context":{"library":{"name":"connector-host","version":"1.0.0"}}}"#
        let body = try #require(http.requests.first).text
        #expect(
            body.contains(#""batch":[\#(event)\#(library),\#(event),"properties":{"n":1.50}\#(library)]}"#),
            "\(body)"
        )
    }

    @Test func `an event that cannot be read is rejected, and the others of its batch are delivered`() async throws {
        let http = ScriptedHTTP((200, #"{"success":true}"#))
        let batch = JSONText(utf8: Array(#"[{"type":"track","userId":7},7,{"type":"page","userId":"u"}]"#.utf8))
        let answers = try await segment(http).deliver(events: batch)
        let outcomes = try DeliveryAnswer.answers(text: answers, count: 3).map(\.outcome)
        #expect(outcomes == [.rejected, .rejected, .accepted])
        #expect(http.requests.first?.jsonBody["batch"]?.array?.count == 1)
        for text in ["{", "{}", #"[{"a":1,"a":1}]"#] {
            await #expect(throws: PluginError.self) {
                try await segment(http).deliver(events: JSONText(utf8: Array(text.utf8)))
            }
        }
        #expect(http.requests.count == 1)
    }

    @Test func `an id that Segment would drop the event for becomes a UUID, the same each time`() async throws {
        let http = ScriptedHTTP((200, #"{"success":true}"#), (200, #"{"success":true}"#))
        let id = String(repeating: "é", count: 50)
        let event =
            #"{"type":"track","messageId":"\#(id)","timestamp":"2026-01-31T09:30:00.000Z","userId":"u","event":"E"}"#
        let batch = JSONText(utf8: Array("[\(event)]".utf8))
        for _ in 0..<2 { _ = try await segment(http).deliver(events: batch) }
        let ids = http.requests.map { $0.jsonBody["batch"]?[0]?["messageId"]?.string ?? "" }
        #expect(ids == [StableUUID.from(id), StableUUID.from(id)])
    }

    @Test func `an event of more than 32 KB is rejected, and the others are delivered`() async throws {
        let http = ScriptedHTTP((200, "OK"))
        var large = AnalyticsEvent.track("Large", userId: "u")
        large.properties["text"] = .string(String(repeating: "x", count: 32 << 10))
        let answers = try await segment(http).deliver([.track("a", userId: "u"), large])
        #expect(answers.map(\.outcome) == [.accepted, .rejected])
        #expect(http.requests.count == 1)
    }

    @Test(arguments: [408, 410, 429, 460, 500, 503])
    func `a failure that may pass is tried again`(_ status: Int) async throws {
        let http = ScriptedHTTP((status, #"{"message":"later"}"#))
        let answers = try await segment(http).deliver([.track("a", userId: "u")])
        #expect(answers.first?.outcome == .retry)
        #expect(answers.first?.reason?.contains("later") == true)
    }

    @Test(
        arguments: [
            (429, ["X-RateLimit-Reset": "7"], 7), (429, ["X-RateLimit-Reset": "7", "Retry-After": "9"], 9),
            // Half past nine and twenty seconds.
            (429, ["X-RateLimit-Reset": "1769851820"], 20), (429, ["X-RateLimit-Reset": "1769851000"], 0),
            (429, ["X-RateLimit-Reset": "90000"], 86_400), (429, ["X-RateLimit-Reset": "-9223372036854775808"], 0),
            (429, ["X-RateLimit-Reset": "soon"], nil), (500, ["X-RateLimit-Reset": "3600"], nil),
            (503, ["X-RateLimit-Reset": "1796041999"], nil), (503, ["Retry-After": "9"], 9),
        ] as [(Int, HTTPFields, Int64?)]
    )
    func `when to try again is read from either header, that of a rate limit only beside a 429`(
        _ status: Int,
        _ headers: HTTPFields,
        _ seconds: Int64?
    ) throws {
        let now = try #require(Timestamp(parsing: "2026-01-31T09:30:00Z"))
        let failure = SegmentResponse(HTTPResponse(status: status, headers: headers)).failure(now: now)
        #expect(failure.retryAfter == seconds.map { Duration.seconds($0) })
    }

    @Test(arguments: ["2026-01-31T09:29:59.123Z", "2026-01-31T09:29:59.123456Z", "2026-01-31T09:29:59.123456789Z"])
    func `Segment gets times in milliseconds, whatever they have`(_ time: String) async throws {
        let http = ScriptedHTTP((200, #"{"success":true}"#))
        let event = #"{"type":"track","messageId":"m","timestamp":"\#(time)","userId":"u","event":"E"}"#
        _ = try await segment(http).deliver(events: JSONText(utf8: Array("[\(event)]".utf8)))
        #expect(http.requests.first?.jsonBody["batch"]?[0]?["timestamp"] == "2026-01-31T09:29:59.123Z")
    }

    @Test func `a server that does not serve settings is only reachable`() async throws {
        let http = ScriptedHTTP((400, #"{"code":"invalid_request"}"#), (400, #"{"code":"invalid_request"}"#))
        let evidence = try await segment(http).open()
        #expect(evidence.map(\.kind) == [.reachable])
    }

    @Test func `a server that refuses the key fails the gate with its words`() async throws {
        let http = ScriptedHTTP((401, #"{"message":"no such key"}"#), (401, #"{"message":"no such key"}"#))
        let segment = try segment(http)
        let error = await #expect(throws: PluginError.self) { try await segment.open() }
        #expect(error?.status == .unauthorized)
        #expect(error?.message == "segment answered HTTP 401: no such key")
    }
}
