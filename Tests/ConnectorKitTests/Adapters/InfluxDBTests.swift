// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import influxdb

/// The adapter of InfluxDB.
@Suite struct InfluxDBTests {
    private let now = Timestamp(nanoseconds: 1_769_851_800_000_000_001)

    private func line(_ event: AnalyticsEvent) -> String {
        var event = event
        event.messageId = "m"
        return String(decoding: LineProtocol.point(event, time: now.nanoseconds), as: UTF8.self)
    }

    @Test func `an event is a point with its type as the only tag`() {
        let event = AnalyticsEvent.track("Order", ["total": 42, "paid": true, "note": "a\"b\\c"], userId: "u")
        #expect(
            line(event)
                == #"Order,type=track messageId="m",userId="u",total=42.0,paid=true,note="a\"b\\c" 1769851800000000001"#
        )
    }

    @Test(arguments: [
        ("Order Completed, now", #"Order\ Completed\,\ now"#), ("a=b", "a=b"), ("end\\", "end_"),
        ("two\nlines", #"two\ lines"#), ("#1", "\\#1"), ("#\u{FE0F}\u{20E3} x", "\\#\u{FE0F}\u{20E3}\\ x"),
        ("\u{600}\\", "\u{600}_"), ("\\", "_"), ("a\\,b", #"a_\,b"#), ("a\\ ", #"a_\ "#), ("a\\\nb", #"a_\ b"#),
        ("a\\=b", #"a\=b"#), ("a\\b", #"a\b"#), ("a\\\\", #"a\_"#), ("\t#1", "\\\t#1"), ("\0\t#1", "\\\0\t#1"),
        ("\n#1", "\\ #1"), ("a\t#1", "a\t#1"),
    ])
    func `a measurement ends where its name does, whatever backslashes it has`(_ name: String, _ escaped: String) {
        #expect(line(.track(name, userId: "u")).hasPrefix("\(escaped),type=track "))
    }

    @Test(arguments: [
        ("end\\", "end_"), ("a\\,b", #"a_\,b"#), ("a\\=b", #"a_\=b"#), ("a\\ b", #"a_\ b"#), ("a\\\nb", #"a_\ b"#),
        ("a\\b", #"a\b"#), ("a\\\\", #"a\_"#), ("#1", "#1"), ("a,b=c d", #"a\,b\=c\ d"#),
    ])
    func `a field's name ends where it should, whatever backslashes it has`(_ name: String, _ escaped: String) {
        let properties = JSONObject([(name, .integer(1))])
        #expect(
            line(.track("E", properties, userId: "u"))
                == #"E,type=track messageId="m",userId="u",\#(escaped)=1.0 1769851800000000001"#
        )
    }

    @Test func `fields whose escaped names are the same are kept under others`() {
        let event = AnalyticsEvent.track("E", ["a\\": 1, "a_": 2, "b\nc": 3, "b c": 4, "": 5], userId: "u")
        #expect(
            line(event)
                == #"E,type=track messageId="m",userId="u",a_=1.0,a__=2.0,b\ c=3.0,b\ c_=4.0,_=5.0 1769851800000000001"#
        )
    }

    @Test func `members within members are joined with dots, and none takes the place of another field`() {
        let event = AnalyticsEvent.track(
            "E",
            [
                "a": ["b c": ["d": 1]], "n": nil, "l": [1, "x"], "userId": "other", "time": 5, "type": "x",
                "a.b c.d": 2,
            ],
            userId: "u"
        )
        #expect(
            line(event)
                == #"E,type=track messageId="m",userId="u",a.b\ c.d=1.0,l="[1,\"x\"]",userId_="other",time_=5.0,type_="x",a.b\ c.d_=2.0 1769851800000000001"#
        )
    }

    @Test func `events of one millisecond do not replace each other, and a retry replaces itself`() {
        var first = AnalyticsEvent.track("E", userId: "u")
        first.timestamp = Timestamp(parsing: "2026-01-31T09:30:00.250Z")
        var second = first
        second.messageId = "other"
        var times = PointTimes(now: now)
        let time = times.time(of: first)
        #expect(time / 1_000_000 == 1_769_851_800_250)
        #expect(times.time(of: second) != time)
        #expect(times.time(of: first) == time)
        var later = PointTimes(now: Timestamp(nanoseconds: 5))
        #expect(later.time(of: first) == time)
    }

    @Test(arguments: [("a\\", "a_"), ("a\nb", "a b")])
    func `events of one moment whose names are one measurement do not replace each other`(
        _ name: String,
        _ other: String
    ) {
        var times = PointTimes(now: now)
        let found = [name, other].map { name in
            var event = AnalyticsEvent.track(name, userId: "u")
            event.timestamp = now
            return times.time(of: event)
        }
        #expect(Set(found).count == 2)
    }

    @Test func `events of one microsecond do not replace each other in two deliveries`() {
        var event = AnalyticsEvent.track("E", userId: "u")
        event.timestamp = Timestamp(nanoseconds: 1_769_851_800_250_001_000)
        let times = (0..<20).map { number in
            var (other, times) = (event, PointTimes(now: now))
            other.messageId = "m\(number)"
            return times.time(of: other)
        }
        #expect(times.allSatisfy { $0 / 1000 == 1_769_851_800_250_001 } && Set(times).count > 15)
        event.timestamp = now
        var exact = PointTimes(now: now)
        #expect(exact.time(of: event) == now.nanoseconds)
    }

    @Test func `events of one second are spread over it, whatever their deliveries and however alike their ids`() {
        var event = AnalyticsEvent.track("E", userId: "u")
        event.timestamp = Timestamp(parsing: "2026-01-31T00:00:00Z")
        let all = (0..<10_000).map { number in
            var (other, times) = (event, PointTimes(now: now))
            other.messageId = "m\(number)"
            return times.time(of: other)
        }
        #expect(Set(all).count == 10_000 && Set(all.map { $0 / 1_000_000_000 }).count == 1)
    }

    @Test func `events without a time get a time of their own each`() {
        var times = PointTimes(now: now)
        let all = (0..<1000).map { _ in times.time(of: .track("E", userId: "u")) }
        #expect(Set(all).count == 1000)
    }

    private func influxdb(_ http: ScriptedHTTP, username: JSONValue = "ada") throws -> InfluxDB {
        var fields: JSONObject = ["endpoint": "http://vendor.example", "database": "my db"]
        if username != .null { (fields["username"], fields["password"]) = (username, "{{secret:password}}") }
        return try InfluxDB(configuration: PluginConfiguration(fields), host: .scripted(http))
    }

    @Test func `a write names the database and carries the credentials`() async throws {
        let http = ScriptedHTTP((204, ""))
        try await influxdb(http).track(event: ["event": "E", "userId": "u"])
        let request = try #require(http.requests.first)
        #expect(request.url.description == "http://vendor.example/write?db=my%20db&precision=ns")
        #expect(request.headers["Authorization"] == "Basic {{base64:ada:{{secret:password}}}}")
        #expect(!request.hasPlaceholdersInBody)
    }

    @Test func `credentials are proved when the same is refused without them`() async throws {
        let kinds = try await influxdb(ScriptedHTTP((204, ""), (401, ""))).open().map(\.kind)
        #expect(kinds == [.reachable, .authenticated])
        #expect(try await influxdb(ScriptedHTTP((204, ""), (204, ""))).open().map(\.kind) == [.reachable])
        #expect(try await influxdb(ScriptedHTTP((204, "")), username: nil).open().map(\.kind) == [.reachable])
    }

    @Test(arguments: [
        #"{"code":"invalid","message":"writing requires points"}"#,
        #"{"error":"write buffer error: incoming write was empty","data":null}"#, "incoming write was empty",
    ])
    func `a later version's refusal of a write without points proves the credentials`(_ words: String) async throws {
        let kinds = try await influxdb(ScriptedHTTP((400, words), (401, ""))).open().map(\.kind)
        #expect(kinds == [.reachable, .authenticated])
        let answers = try await influxdb(ScriptedHTTP((400, words))).deliver([.track("E", userId: "u")])
        #expect(answers.map(\.outcome) == [.rejected])
    }

    @Test(arguments: [
        (401, #"{"code":"unauthorized","message":"unauthorized access"}"#, PluginStatus.unauthorized),
        (403, "{}", .unauthorized), (404, #"{"code":"not found","message":"no dbrp mapping found"}"#, .notFound),
        (400, #"{"error":"database is required"}"#, .unavailable), (400, "<html>no points</html>", .protocolViolation),
    ])
    func `no other refusal of a write without points proves the credentials`(
        _ status: Int,
        _ body: String,
        _ expected: PluginStatus
    ) async throws {
        let error = await #expect(throws: PluginError.self) { try await influxdb(ScriptedHTTP((status, body))).open() }
        #expect(error?.status == expected)
        guard let words = try? JSONValue(parsing: body)["message"]?.string else { return }
        #expect(error?.message == "influxdb answered HTTP \(status): \(words)")
    }

    /// A refusal of 3.x that names lines.
    private static func lines(_ reasons: String...) -> String {
        let lines = reasons.enumerated().map { index, reason in
            #"{"original_line":"E messageId=\"m\" 1","line_number":\#(index + 1),"error_message":"\#(reason)"}"#
        }
        return #"{"error":"partial write of line protocol occurred","data":[\#(lines.joined(separator: ","))]}"#
    }

    private static let columns = "Update to schema would exceed number of columns per table limit of 500 columns"
    private static let conflict = "invalid column type for column 'a', expected iox::column_type::field::float"

    @Test(arguments: [
        (400, #"{"error":"partial write: max-series-per-database limit exceeded: (30) dropped=17"}"#),
        (400, #"{"error":"partial write: max-values-per-tag limit exceeded (1/1): value=\"unable to parse\""}"#),
        (400, #"{"error":"partial write: write /data/shop/_series/00/0000: no space left on device dropped=1"}"#),
        (400, #"{"error":"partial write: open /data/shop/1/fields.idx: too many open files dropped=1"}"#),
        (422, #"{"code":"unprocessable entity","message":"failure writing points to database: max-series"}"#),
        (422, #"{"error":"Adding a new database would exceed limit of 5 databases","data":null}"#),
        (422, lines(columns)), (422, lines(conflict, columns)), (400, lines(columns)),
    ])
    func `events wait for a server that has reached a limit, although it blames the request`(
        _ status: Int,
        _ body: String
    ) async throws {
        let http = ScriptedHTTP((status, body))
        let answers = try await influxdb(http).deliver([.track("E", userId: "u"), .track("F", userId: "u")])
        #expect(answers.map(\.outcome) == [.retry, .retry])
        #expect(answers.map(\.code) == [.unavailable, .unavailable])
        #expect(answers.first?.reason?.hasSuffix("raise the limit that the server names, or see its log") == true)
        #expect(http.requests.count == 1, "no event is looked for that is at fault")
    }

    @Test(arguments: [
        (400, #"{"error":"partial write: field type conflict: input field \"a\" on measurement \"E\" dropped=1"}"#),
        (400, #"{"error":"unable to parse 'E': missing fields"}"#),
        (400, #"{"error":"partial write: unable to parse 'E': missing fields dropped=0"}"#),
        (400, #"{"error":"partial write: points beyond retention policy dropped=1"}"#),
        (400, #"{"error":"partial write: max key length exceeded: 65536 > 65535 dropped=1"}"#),
        (400, #"{"error":"partial write: input field \"a\" on measurement \"E\" is too long, 2 > 1 dropped=1"}"#),
        (400, #"{"code":"invalid","message":"unable to parse 'E': missing fields"}"#),
        (422, #"{"code":"x","message":"failure writing points to database: partial write: field type conflict"}"#),
        (422, #"{"code":"x","message":"partial write: dropped 1 points outside retention policy of duration 1h"}"#),
        (400, lines(conflict)),
        (400, #"{"error":"parsing failed","data":{"line_number":1,"error_message":"No fields were provided"}}"#),
        (400, #"{"code":"invalid","line":1,"message":"failed to parse line protocol: errors encountered"}"#),
    ])
    func `only the event that InfluxDB blames becomes a dead letter`(_ status: Int, _ body: String) async throws {
        let refusal = (status, body)
        let http = ScriptedHTTP(refusal, refusal, (204, ""))
        let answers = try await influxdb(http).deliver([.track("E", userId: "u"), .track("F", userId: "u")])
        #expect(answers.map(\.outcome) == [.rejected, .accepted])
    }

    @Test(arguments: [
        (400, #"{"error":"partial write: the point is of a kind yet to be invented dropped=1"}"#),
        (422, #"{"code":"unprocessable entity","message":"the bucket does not want it"}"#), (422, lines(conflict)),
    ])
    func `an event that is refused alone in unknown words waits, and neither is lost nor holds up others`(
        _ status: Int,
        _ body: String
    ) async throws {
        let refusal = (status, body)
        let http = ScriptedHTTP(refusal, refusal, (204, ""))
        let answers = try await influxdb(http).deliver([.track("E", userId: "u"), .track("F", userId: "u")])
        #expect(answers.map(\.outcome) == [.retry, .accepted])
        // With this code, the host delivers other events meanwhile.
        #expect(answers.first?.code == .invalid)
        #expect(answers.first?.reason?.hasSuffix("so see the server's log") == true)
    }

    @Test func `a dead letter has the reason of the line that 3.x refused`() async throws {
        let http = ScriptedHTTP((400, Self.lines(Self.conflict)))
        let answers = try await influxdb(http).deliver([.track("E", userId: "u")])
        #expect(
            answers.first?.reason
                == "influxdb answered HTTP 400: partial write of line protocol occurred: \(Self.conflict)"
        )
    }

    @Test func `an unknown database is not found, in InfluxDB's words`() async throws {
        let error = await #expect(throws: PluginError.self) {
            try await influxdb(ScriptedHTTP((404, #"{"error":"database not found: \"my db\""}"#))).open()
        }
        #expect(error?.status == .notFound)
        #expect(error?.message.contains("database not found") == true)
    }

    @Test func `an unknown retention policy is not found, and not tried again`() async throws {
        let answer = (500, #"{"error":"retention policy not found: monthly"}"#)
        let error = await #expect(throws: PluginError.self) {
            try await influxdb(ScriptedHTTP(answer)).track(event: ["event": "E", "userId": "u"])
        }
        #expect(error?.status == .notFound)
        #expect(error?.isRetryable == false)
        #expect(error?.message == "influxdb answered HTTP 500: retention policy not found: monthly")
        let other = await #expect(throws: PluginError.self) {
            try await influxdb(ScriptedHTTP((500, #"{"error":"engine is closed"}"#))).open()
        }
        #expect(other?.status == .unavailable)
        #expect(other?.isRetryable == true)
    }
}
