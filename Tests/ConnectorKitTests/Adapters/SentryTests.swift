// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import sentry

/// The adapter of Sentry.
@Suite struct SentryTests {
    private let key = "0123456789abcdef0123456789abcdef"

    private func sentry(_ http: ScriptedHTTP, clock: StoppedClock = StoppedClock()) throws -> Sentry {
        try Sentry(
            configuration: PluginConfiguration(json: [
                "dsn": .string("http://\(key)@vendor.example/base/7"), "environment": "test", "release": "1.0",
            ]),
            host: .scripted(http, clock: clock)
        )
    }

    @Test(arguments: [
        "http://vendor.example/7", "http://key@vendor.example", "http://key@vendor.example/", "key@vendor.example/7",
        "http://k%20y@vendor.example/7", "",
    ])
    func `a DSN without a key or a project is refused`(_ text: String) {
        #expect(SentryDSN(text) == nil)
    }

    @Test func `a DSN says where envelopes go`() throws {
        let dsn = try #require(SentryDSN("https://\(key):old@vendor.example:8443/a/b/7/"))
        #expect(dsn.envelopeURL?.description == "https://vendor.example:8443/a/b/api/7/envelope/")
        #expect(dsn.publicKey == key)
    }

    @Test func `an envelope counts bytes and ends its lines`() async throws {
        let http = ScriptedHTTP((200, #"{"id":"x"}"#))
        var report = CrashReport(level: .error, message: "é {{secret:x}}")
        report.id = key
        let answers = try await sentry(http).deliver([report])
        #expect(answers == [.accepted(id: key)])
        let request = try #require(http.requests.first)
        #expect(request.headers["Content-Type"] == "application/x-sentry-envelope")
        #expect(request.headers["X-Sentry-Auth"]?.contains("sentry_key=\(key)") == true)
        #expect(!request.hasPlaceholdersInBody)
        let lines = request.body.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        #expect(lines.count == 4)
        #expect(lines[3].isEmpty)
        #expect(try JSONValue(parsing: Array(lines[0]))["event_id"] == .string(key))
        #expect(try JSONValue(parsing: Array(lines[1]))["length"] == .integer(Int64(lines[2].count)))
        #expect(try JSONValue(parsing: Array(lines[2]))["logentry"]?["formatted"] == "é {{secret:x}}")
    }

    @Test func `an empty environment or release is that of the configuration`() throws {
        let report = try CrashReport(json: ["message": "m", "environment": "", "release": ""])
        let bytes = SentryEvents(environment: "e", release: "1.0").encode(report, now: Timestamp(nanoseconds: 0))
        let event = try JSONValue(parsing: bytes)
        #expect(event["environment"] == "e" && event["release"] == "1.0")
    }

    @Test func `the root cause and the outermost frame stand first`() throws {
        let frames = [CrashFrame(function: "inner", line: 3), CrashFrame(function: "outer", isInApplication: false)]
        let report = CrashReport(
            level: .fatal,
            exceptions: [CrashException(type: "Top", message: "t", frames: frames), CrashException(type: "Root")]
        )
        let bytes = SentryEvents(environment: "e", release: nil).encode(report, now: Timestamp(nanoseconds: 0))
        let values = try #require(JSONValue(parsing: bytes)["exception"]?["values"]?.array)
        #expect(values.map { $0["type"] } == ["Root", "Top"])
        let functions = values[1]["stacktrace"]?["frames"]?.array?.map { $0["function"] }
        #expect(functions == ["outer", "inner"])
    }

    @Test func `an empty envelope proves the key only where another one is refused`() async throws {
        #expect(try await sentry(ScriptedHTTP((200, "{}"), (200, "{}"))).open().map(\.kind) == [.reachable])
        #expect(
            try await sentry(ScriptedHTTP((200, ""), (403, ""))).open().map(\.kind) == [.reachable, .authenticated]
        )
    }

    @Test(arguments: [("", 403, DeliveryAnswer.Outcome.accepted), ("{}", 403, .retry), ("", 200, .retry)])
    func `an empty answer accepts an event only if it also answered the empty envelope and wrong keys are refused`(
        _ opening: String,
        _ wrongKey: Int,
        _ outcome: DeliveryAnswer.Outcome
    ) async throws {
        let sentry = try sentry(ScriptedHTTP((200, opening), (wrongKey, ""), (200, "")))
        _ = try await sentry.open()
        #expect(try await sentry.deliver([CrashReport(level: .error, message: "m")]).map(\.outcome) == [outcome])
    }

    @Test(arguments: [
        ("60:error:organization", 60), ("60:transaction, 30::key", 30), ("10:error;default:x, 90:session", 10),
        ("5:error, 20:error", 20), ("60:transaction", nil), ("x:error", nil), ("", nil), ("1.5:error", nil),
        ("99999999999999999999:error", UInt64.max), ("-1:error", nil),
    ])
    func `limits are read by category, and the longest one counts`(_ header: String, _ seconds: UInt64?) {
        let response = HTTPResponse(status: 200, headers: ["X-Sentry-Rate-Limits": header, "Retry-After": "7"])
        #expect(SentryRateLimits.seconds(of: response, now: Timestamp(nanoseconds: 0)) == seconds)
    }

    @Test func `a bare 429 asks for a wait of a minute, and the adapter sends whenever the host tries again`()
        async throws
    {
        let http = ScriptedHTTP((429, ""), (200, "{}"), (200, #"{"id":"x"}"#))
        let sentry = try sentry(http)
        let report = CrashReport(level: .error, message: "m")
        let answers = try await sentry.deliver([report])
        #expect(answers.map(\.retryAfter) == [.seconds(60)] && answers[0].code == .rateLimited)
        #expect(try await sentry.probe().map(\.kind) == [.reachable])
        #expect(try await sentry.deliver([report]).map(\.outcome) == [.accepted])
        #expect(http.requests.count == 3)
    }

    @Test(arguments: [("600:error:organization", 600), ("9999999", 9_999_999), ("99999999999::key", 31_536_000)])
    func `a limit that comes with an answer holds back the rest of a delivery, and no later one`(
        _ limit: String,
        _ seconds: Int
    ) async throws {
        let taken = Array(#"{"id":"x"}"#.utf8)
        let limited = HTTPResponse(status: 200, headers: ["X-Sentry-Rate-Limits": limit], body: taken)
        let http = ScriptedHTTP([.response(limited), .response(HTTPResponse(status: 200, body: taken))])
        let sentry = try sentry(http)
        let reports = ["a", "b", "c"].map { CrashReport(level: .error, message: $0) }
        let answers = try await sentry.deliver(reports)
        #expect(answers.map(\.outcome) == [.accepted, .retry, .retry] && http.requests.count == 1)
        #expect(answers[1].retryAfter == .seconds(seconds) && answers[1].code == .rateLimited && answers[2].isUnsent)
        #expect(try await sentry.deliver([reports[1]]).map(\.outcome) == [.accepted])
    }

    @Test func `a wrong key is unauthorised, in Sentry's words`() async throws {
        let http = ScriptedHTTP((403, #"{"detail":"rejected","causes":["ProjectId"]}"#))
        let error = await #expect(throws: PluginError.self) {
            _ = try await sentry(http).exception(report: ["exceptions": [["type": "A"]]])
        }
        #expect(error?.status == .unauthorized)
        #expect(error?.message == "sentry answered HTTP 403: rejected: ProjectId")
    }
}
