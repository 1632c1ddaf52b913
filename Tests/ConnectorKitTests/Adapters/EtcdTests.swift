// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorKit
internal import ConnectorManifest
internal import ConnectorTestSupport
internal import Testing

@testable internal import etcd

/// The adapter that keeps settings in etcd.
@Suite(.timeLimit(.minutes(5))) struct EtcdTests {
    private let events = AsyncStream.makeStream(of: (String, JSONValue).self)
    private static let empty = #"{"header": {"revision": "7"}}"#
    private static let changed = (200, #"{"header": {"revision": "8"}, "succeeded": true}"#)

    private func etcd(_ http: ScriptedHTTP, _ fields: JSONObject = [:]) throws -> Etcd {
        var all: JSONObject = ["endpoint": "http://127.0.0.1:2379", "prefix": "app/"]
        for member in fields.members { all[member.name] = member.value }
        let continuation = events.continuation
        let host = Host(
            http: http,
            clock: StoppedClock(),
            events: Events { name, value throws(PluginError) in continuation.yield((name, value)) }
        )
        return try Etcd(configuration: PluginConfiguration(all), host: host)
    }

    private static func base64(_ text: String) -> String { Base64.encode(Array(text.utf8)) }

    private static func pair(_ key: String, _ value: String, _ revision: Int) -> String {
        #"{"key": "\#(base64(key))", "value": "\#(base64(value))", "mod_revision": "\#(revision)"}"#
    }

    private static func range(_ revision: Int, _ pairs: String...) -> (Int, String) {
        (200, #"{"header": {"revision": "\#(revision)"}, "kvs": [\#(pairs.joined(separator: ", "))]}"#)
    }

    /// A watch that sends texts, then stays open.
    private static func watch(_ texts: String...) -> ScriptedHTTP.Answer {
        let (parts, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        for text in texts { continuation.yield(Array(text.utf8)) }
        let iterator = Iterator(parts)
        return .stream(HTTPStream(HTTPResponse(status: 200)) { () throws(PluginError) in await iterator.next() })
    }

    private actor Iterator {
        private let parts: AsyncStream<[UInt8]>

        init(_ parts: AsyncStream<[UInt8]>) {
            self.parts = parts
        }

        func next() async -> [UInt8]? {
            for await part in parts { return part }
            return nil
        }
    }

    @Test func `settings are the keys of the prefix, as JSON or else as text`() async throws {
        let http = ScriptedHTTP(
            Self.range(
                7,
                Self.pair("app/theme", #""dark""#, 2),
                Self.pair("app/size", "12", 3),
                Self.pair("app/mode", "plain words", 4),
                Self.pair("app/none", "null", 4),
                Self.pair("app/other/nested", "1", 5)
            )
        )
        let settings = try await etcd(http, ["defaults": ["size": 10, "volume": 0.5]]).settings()
        #expect(settings == ["size": 12, "volume": 0.5, "theme": "dark", "mode": "plain words", "none": "null"])
        let body = try #require(http.requests.first?.jsonBody)
        #expect(body == ["key": .string(Self.base64("app/")), "range_end": .string(Self.base64("app0"))])
        #expect(http.paths == ["/v3/kv/range"])
    }

    @Test(arguments: [(1000, nil), (1001, PluginStatus.tooLarge)])
    func `the number of settings that other clients store below the prefix is bounded`(
        _ count: Int,
        _ expected: PluginStatus?
    ) async throws {
        let pairs = (0..<count).map { Self.pair("app/\($0)", "1", 2) }.joined(separator: ", ")
        let http = ScriptedHTTP((200, #"{"header": {"revision": "7"}, "kvs": [\#(pairs)]}"#))
        let etcd = try etcd(http)
        if let expected {
            let error = await #expect(throws: PluginError.self) { try await etcd.probe() }
            #expect(error?.status == expected)
        } else {
            #expect(try await etcd.probe().map(\.kind) == [.reachable])
        }
    }

    @Test func `a setting is asked for by its own key, and has its default if it is not stored`() async throws {
        let http = ScriptedHTTP(Self.range(7, Self.pair("app/size", "12", 3)), (200, Self.empty), (200, Self.empty))
        let etcd = try etcd(http, ["defaults": ["size": 10]])
        for (key, expected) in [("size", 12), ("size", 10), ("theme", .null)] as [(String, JSONValue)] {
            #expect(try await etcd.get(key: key) == expected)
            #expect(http.requests.last?.jsonBody == ["key": .string(Self.base64("app/\(key)"))])
        }
    }

    /// An answer with settings that all have one value.
    private static func stored(_ count: Int, _ value: JSONValue) -> ScriptedHTTP.Answer {
        let value = base64(value.serialized())
        let pairs = (0..<count).map { #"{"key": "\#(base64("app/\($0)"))", "value": "\#(value)"}"# }
        let text = range(7, pairs.joined(separator: ", ")).1
        return .stream(HTTPStream(HTTPResponse(status: 200, body: Array(text.utf8))))
    }

    @Test func `a setting for which there is no room is refused, and one that takes less than before is not`()
        async throws
    {
        let changed = ScriptedHTTP.Answer.response(HTTPResponse(status: 200, body: Array(Self.changed.1.utf8)))
        let crowd = Self.stored(1000, 1)
        let full = Self.stored(150, .string(String(repeating: "x", count: 60_000)))
        for (found, changes, words) in [
            (full, ["new": 1], "more than 8 MiB of settings"), (crowd, ["new": 1], "more than 1000 settings"),
            (crowd, ["7": 2], nil), (full, ["7": 2], nil),
        ] as [(ScriptedHTTP.Answer, JSONValue, String?)] {
            let http = ScriptedHTTP([found, changed])
            let etcd = try etcd(http)
            guard let words else {
                try await etcd.change(changes: changes)
                #expect(http.paths == ["/v3/kv/range", "/v3/kv/txn"])
                continue
            }
            let error = await #expect(throws: PluginError.self) { try await etcd.change(changes: changes) }
            #expect(error?.status == .tooLarge && error?.message.contains("etcd would have \(words)") == true)
            #expect(http.paths == ["/v3/kv/range"])
        }
        let removal = ScriptedHTTP(Self.changed)
        try await etcd(removal).remove(key: "7")
        #expect(removal.paths == ["/v3/kv/txn"])
    }

    @Test func `settings that other clients have made too long to be read are an error that says so`() async throws {
        let body = [UInt8](repeating: UInt8(ascii: " "), count: (16 << 20) + 1)
        let http = ScriptedHTTP([.stream(HTTPStream(HTTPResponse(status: 200, body: body)))])
        let error = await #expect(throws: PluginError.self) { try await etcd(http).probe() }
        #expect(error?.status == .tooLarge && error?.isRetryable == false)
        #expect(error?.message == "etcd has more than 16 MiB below the prefix; remove some, or use a longer prefix")
    }

    @Test func `a change of more settings than the server's limit is too large`() async throws {
        let words = "etcdserver: too many operations in txn request"
        let http = ScriptedHTTP((200, Self.empty), (400, #"{"error": "\#(words)", "message": "\#(words)", "code": 3}"#))
        let error = await #expect(throws: PluginError.self) {
            try await etcd(http).change(SettingsChange(json: ["size": 1]))
        }
        #expect(error?.status == .tooLarge && error?.message.contains("--max-txn-ops") == true)
    }

    @Test func `a full database is no limit that passes by itself`() async throws {
        let words = "etcdserver: mvcc: database space exceeded"
        let http = ScriptedHTTP((200, Self.empty), (429, #"{"error": "\#(words)", "message": "\#(words)", "code": 8}"#))
        let error = await #expect(throws: PluginError.self) {
            try await etcd(http).change(SettingsChange(json: ["size": 1]))
        }
        #expect(error?.status == .unavailable && error?.isRetryable == false)
        #expect(error?.message.contains("--quota-backend-bytes") == true && error?.message.contains("alarm") == true)
    }

    @Test(arguments: [400, 412])
    func `a user where there are none is a mistake of the configuration`(_ status: Int) async throws {
        let words = "etcdserver: authentication is not enabled"
        let http = ScriptedHTTP((status, #"{"error": "\#(words)", "message": "\#(words)", "code": 9}"#))
        let etcd = try etcd(http, ["username": "ann", "password": "{{secret:password}}"])
        let error = await #expect(throws: PluginError.self) { _ = try await etcd.probe() }
        #expect(error?.status == .invalid && error?.isRetryable == false)
        #expect(error?.message.hasSuffix("or remove username and password here") == true)
    }

    @Test func `several settings change in one transaction`() async throws {
        let http = ScriptedHTTP((200, Self.empty), Self.changed)
        try await etcd(http).change(SettingsChange(json: ["a": 1, "b": nil]))
        #expect(http.paths == ["/v3/kv/range", "/v3/kv/txn"])
        let (a, b, one) = (Self.base64("app/a"), Self.base64("app/b"), Self.base64("1"))
        #expect(
            http.requests.last?.jsonBody == [
                "success": [
                    ["requestPut": ["key": .string(a), "value": .string(one)]],
                    ["requestDeleteRange": ["key": .string(b)]],
                ]
            ]
        )
    }

    @Test func `a value of another type than its default is refused before it is sent`() async throws {
        let http = ScriptedHTTP()
        let etcd = try etcd(http, ["defaults": ["size": 10]])
        let error = await #expect(throws: PluginError.self) { try await etcd.set(key: "size", value: "large") }
        #expect(error?.status == .invalid && error?.message.contains("\"size\" must be a number") == true)
        #expect(http.requests.isEmpty)
    }

    /// A server that answers every read, and refuses every watch.
    private struct UnwatchedServer: HTTPService {
        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            guard request.url.description.hasSuffix("/v3/watch") else {
                return HTTPResponse(status: 200, body: Array(EtcdTests.empty.utf8))
            }
            return HTTPResponse(status: 503, body: Array("no streams".utf8))
        }
    }

    @Test func `a proof tells that changes have not been followed for half a minute`() async throws {
        let clock = StoppedClock()
        let fields: JSONObject = ["endpoint": "http://127.0.0.1:2379", "prefix": "app/"]
        let host = Host(http: UnwatchedServer(), clock: clock)
        let etcd = try Etcd(configuration: PluginConfiguration(fields), host: host)
        _ = try await etcd.open()
        // The clock moves with each pause between two attempts.
        while clock.monotonic < 60_000_000_000 { try await Task.checkedYield() }
        let detail = try await etcd.probe().first?.detail ?? ""
        #expect(
            detail.contains("stored: 0; they are not being watched for changes: etcd answered HTTP 503: no streams"),
            "\(detail)"
        )
        await etcd.close()
    }

    /// A server that answers every read, and asks every watch to wait for an hour.
    private struct BusyServer: HTTPService {
        func send(_ request: HTTPRequest) async throws(PluginError) -> HTTPResponse {
            guard request.url.description.hasSuffix("/v3/watch") else {
                return HTTPResponse(status: 200, body: Array(EtcdTests.empty.utf8))
            }
            return HTTPResponse(status: 429, headers: ["Retry-After": "3600"])
        }
    }

    /// A clock that stands still: a sleep ends only with its task.
    private final class StandingClock: ClockService {
        let sleeps = AsyncStream.makeStream(of: Duration.self)
        var now: Timestamp { Timestamp(nanoseconds: 0) }
        var monotonic: UInt64 { 0 }

        func sleep(for duration: Duration) async throws(PluginError) {
            sleeps.continuation.yield(duration)
            let never = AsyncStream.makeStream(of: Void.self)
            for await _ in never.stream {}
            withExtendedLifetime(never.continuation) {}
            throw PluginError(.cancelled, "the sleep was cancelled")
        }
    }

    @Test func `a proof ends a wait that the server has requested of the watch`() async throws {
        let clock = StandingClock()
        let fields: JSONObject = ["endpoint": "http://127.0.0.1:2379", "prefix": "app/"]
        let etcd = try Etcd(configuration: PluginConfiguration(fields), host: Host(http: BusyServer(), clock: clock))
        _ = try await etcd.open()
        var sleeps = clock.sleeps.stream.makeAsyncIterator()
        let first = await sleeps.next()
        _ = try await etcd.probe()
        let second = await sleeps.next()
        #expect(first == .seconds(3600) && second == .seconds(3600))
        // The end of the watch ends its wait, too.
        await etcd.close()
    }

    @Test func `every change that the server reports is announced, by revision`() async throws {
        let first = #"{"result": {"header": {"revision": "7"}, "created": true}}"#
        let second = """
            {"result": {"header": {"revision": "9"}, "events": [
            {"kv": \(Self.pair("app/a", "1", 8))}, {"kv": \(Self.pair("app/b", "2", 8))},
            {"type": "DELETE", "kv": {"key": "\(Self.base64("app/size"))", "mod_revision": "9"}},
            {"kv": \(Self.pair("app/other/x", "2", 9))}]}}
            """
            .replacing("\n", with: " ")
        // Cut in the middle of a message.
        let text = first + "\n" + second + "\n"
        let half = text.index(text.startIndex, offsetBy: 120)
        let http = ScriptedHTTP([
            .response(HTTPResponse(status: 200, body: Array(Self.range(7, Self.pair("app/size", "12", 3)).1.utf8))),
            Self.watch(String(text[..<half]), String(text[half...])),
        ])
        let etcd = try etcd(http, ["defaults": ["size": 10]])
        #expect(try await etcd.open() == [.reachable("the server answers; settings stored: 1")])
        var told = events.stream.makeAsyncIterator()
        let changes = [await told.next(), await told.next()].compactMap { $0 }
        #expect(changes.map(\.0) == [SettingsChange.event, SettingsChange.event])
        #expect(changes.map(\.1) == [["a": 1, "b": 2], ["size": 10]])
        let watch = try #require(http.requests.last?.jsonBody["create_request"])
        #expect(watch["start_revision"] == "8" && watch["key"] == .string(Self.base64("app/")))
        await etcd.close()
    }

    /// The settings that one report of the watch sets, as the events that announce them.
    private func announcements(of settings: [(String, JSONValue)], events count: Int) async throws -> [JSONValue] {
        let pairs = settings.map { #"{"kv": \#(Self.pair("app/\($0.0)", $0.1.serialized(), 8))}"# }
        let report = #"{"result": {"header": {"revision": "8"}, "events": [\#(pairs.joined(separator: ", "))]}}"#
        let http = ScriptedHTTP([
            .response(HTTPResponse(status: 200, body: Array(Self.empty.utf8))), Self.watch(report + "\n"),
        ])
        let etcd = try etcd(http)
        _ = try await etcd.open()
        var iterator = events.stream.makeAsyncIterator()
        var told: [JSONValue] = []
        while told.count < count, let event = await iterator.next() { told.append(event.1) }
        await etcd.close()
        return told
    }

    @Test func `changes of one revision that are too long for one event are announced by several`() async throws {
        let text = JSONValue.string(String(repeating: "x", count: 30_000))
        let heard = try await announcements(of: ["a", "b", "c"].map { ($0, text) }, events: 2)
        #expect(heard == [["a": text, "b": text], ["c": text]])
    }

    @Test func `of a value that is too long for any event, who watches learns that the settings must be read again`()
        async throws
    {
        let text = JSONValue.string(String(repeating: "x", count: Events.byteLimit))
        #expect(try await announcements(of: [("a", 1), ("b", text), ("c", 2)], events: 2) == [["a": 1, "c": 2], [:]])
        #expect(try await announcements(of: [("b", text)], events: 1) == [[:]])
    }

    @Test func `more changes than an event may have are announced by several`() async throws {
        func range(_ revision: Int, _ prefix: String) -> ScriptedHTTP.Answer {
            let pairs = (0..<600).map { Self.pair("app/\(prefix)\($0)", "1", revision) }.joined(separator: ", ")
            return .response(HTTPResponse(status: 200, body: Array(Self.range(revision, pairs).1.utf8)))
        }
        let failure = ScriptedHTTP.Answer.failure(PluginError(.unavailable, "connection refused"))
        let etcd = try etcd(ScriptedHTTP([range(7, "old"), failure, range(9, "new"), Self.watch()]))
        _ = try await etcd.open()
        var iterator = events.stream.makeAsyncIterator()
        let heard = [await iterator.next(), await iterator.next()].compactMap { $0?.1.object }
        await etcd.close()
        #expect(heard.map(\.members.count) == [1000, 200])
        #expect(Set(heard.flatMap(\.names)).count == 1200)
    }

    @Test(
        arguments: [
            #"{"result": {"header": {"revision": "8"}, "canceled": true, "compact_revision": "90"}}"# + "\n",
            #"{"error": {"message": "the member is stopping"}}"# + "\n", "<html>\n", "{}\n", "\u{0}",
            #"{"result": {"header": {"revision": "9223372036854775807"}}}"# + "\n",
            #"{"result": {"header": {"revision": "8"}, "events": [{"kv": {"key": "YXBwL2E=", "mod_revision": "#
                + #""9223372036854775807"}}]}}"# + "\n",
        ]
    )
    func `after an interruption the settings are read again, and what changed meanwhile is announced`(
        _ last: String
    ) async throws {
        let http = ScriptedHTTP([
            .response(HTTPResponse(status: 200, body: Array(Self.empty.utf8))),
            .stream(HTTPStream(HTTPResponse(status: 200, body: Array(last.utf8)))),
            .failure(PluginError(.unavailable, "connection refused")),
            .response(HTTPResponse(status: 200, body: Array(Self.range(99, Self.pair("app/a", "1", 98)).1.utf8))),
            Self.watch(),
        ])
        let etcd = try etcd(http)
        _ = try await etcd.open()
        var told = events.stream.makeAsyncIterator()
        #expect(await told.next()?.1 == ["a": 1])
        await etcd.close()
        #expect(http.paths.prefix(4) == ["/v3/kv/range", "/v3/watch", "/v3/kv/range", "/v3/kv/range"])
    }

    @Test(
        arguments: [
            (401, 16, "etcdserver: invalid auth token"), (400, 3, "etcdserver: revision of auth store is old"),
            (500, 2, "auth: revision in header is old"),
        ]
    )
    func `a user has a token, and a new one when it is refused`(_ status: Int, _ code: Int, _ words: String)
        async throws
    {
        let (old, new) = (#"{"token": "old.1"}"#, #"{"token": "new.2"}"#)
        let refusal = #"{"error": "\#(words)", "code": \#(code)}"#
        let http = ScriptedHTTP(
            (200, old),
            (200, Self.empty),
            (status, refusal),
            (200, new),
            (200, Self.empty),
            (status, refusal),
            (400, #"{"message": "etcdserver: authentication failed, invalid user ID or password", "code": 3}"#)
        )
        let etcd = try etcd(http, ["username": "ann", "password": "{{secret:password}}"])
        #expect(try await etcd.probe() == [.authenticated("the server answers; settings stored: 0")])
        #expect(try await etcd.settings() == [:])
        let error = await #expect(throws: PluginError.self) { _ = try await etcd.settings() }
        #expect(error?.message.contains("authentication failed") == true)
        #expect(error?.status == .unauthorized && error?.isRetryable == false, "so that secrets are renewed")
        let requests = http.requests
        #expect(requests.first?.jsonBody == ["name": "ann", "password": "{{secret:password}}"])
        #expect(requests.first?.hasPlaceholdersInBody == true)
        #expect(requests.dropFirst().allSatisfy { !$0.hasPlaceholdersInBody || $0.url == requests[0].url })
        #expect(requests.map { $0.headers["Authorization"] } == [nil, "old.1", "old.1", nil, "new.2", "new.2", nil])
    }

    @Test func `a token that is refused even when it is new is unauthorized, and not tried again`() async throws {
        let refusal = (400, #"{"message": "etcdserver: revision of auth store is old", "code": 3}"#)
        let http = ScriptedHTTP((200, #"{"token": "new.1"}"#), refusal)
        let etcd = try etcd(http, ["username": "ann", "password": "{{secret:password}}"])
        let error = await #expect(throws: PluginError.self) { _ = try await etcd.settings() }
        #expect(error?.status == .unauthorized && error?.isRetryable == false)
        #expect(http.requests.count == 2)
    }

    @Test(
        arguments: [
            (#"{"username": "ann"}"#, "username has no password"), (#"{"password": "x"}"#, "password has no username"),
            (#"{"prefix": ""}"#, "prefix is empty"), (#"{"defaults": {"a/b": 1}}"#, "a/b"),
        ]
    )
    func `a configuration that makes no sense is refused`(_ fields: String, _ message: String) throws {
        let fields = try #require(JSONValue(parsing: Array(fields.utf8)).object)
        let error = #expect(throws: PluginError.self) { _ = try etcd(ScriptedHTTP(), fields) }
        #expect(error?.status == .invalid && error?.message.contains(message) == true)
    }

    @Test(
        arguments: [
            "<html>Log in</html>", "{}", #"{"header": {}}"#, #"{"header": {"revision": "-1"}}"#,
            #"{"header": {"revision": "9223372036854775807"}}"#, #"{"header": {"revision": "-9223372036854775808"}}"#,
            #"{"header": {"revision": "1"}, "kvs": [{"key": "YXBwL2E=", "value": "*"}]}"#,
        ]
    )
    func `an answer that is not etcd's breaks the protocol`(_ body: String) async throws {
        let etcd = try etcd(ScriptedHTTP((200, body)))
        let error = await #expect(throws: PluginError.self) { _ = try await etcd.probe() }
        #expect(error?.status == .protocolViolation)
    }
}
