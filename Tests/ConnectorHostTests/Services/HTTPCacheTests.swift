// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorHostTesting
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Responses that are reused.
@Suite(.timeLimit(.minutes(5))) struct HTTPCacheTests {
    private let clock = ManualHostClock()

    private func plugin(bytes: Int = 1 << 20) -> PluginSide {
        PluginSide(host: HostServices(options: .init(clock: clock)), cacheBytes: bytes)
    }

    /// A server that numbers its answers, and confirms what it gave out.
    private static func server(_ fields: [(String, String)]) -> LoopbackServer {
        let count = Atomic(0)
        return LoopbackServer { request in
            if let tag = request.fields["if-none-match"], fields.contains(where: { $0 == ("ETag", tag) }) {
                return .response(304, [("Cache-Control", "max-age=60"), ("Content-Type", "text/wrong")])
            }
            let number = count.add(1, ordering: .relaxed).newValue
            return .response(200, fields + [("Content-Type", "text/plain")], Array("\(number)".utf8))
        }
    }

    @Test func `a request with a body bypasses the cache`() async {
        let server = Self.server([("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin()
        for number in 1...2 {
            #expect(await plugin.request("GET", server.url("/a"), body: [1]).text == "\(number)")
        }
    }

    @Test(
        arguments: [
            [("Cache-Control", "max-age=60")], [("Cache-Control", "public"), ("Cache-Control", "MAX-AGE=\"60\"")],
            [("Expires", "Thu, 01 Jan 2026 00:01:00 GMT")],
            [("Date", "Thu, 01 Jan 2026 00:00:00 GMT"), ("Expires", "Thu, 01 Jan 2026 00:01:00 GMT")],
            [("Cache-Control", "max-age=100"), ("Age", "40")],
        ] as [[(String, String)]]
    )
    func `a fresh response is reused without asking, until it is stale`(_ fields: [(String, String)]) async {
        let server = Self.server(fields)
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url("/a")).text == "1")
        clock.advance(by: .seconds(59))
        let again = await plugin.request("GET", server.url("/a"))
        #expect(again.text == "1" && again.code == 200)
        #expect(again.fields["age"].flatMap { Int($0) }.map { $0 >= 59 } == true)
        #expect(plugin.gate.counters.cached == 1)
        #expect(await plugin.request("GET", server.url("/b")).text == "2")
        clock.advance(by: .seconds(1))
        #expect(await plugin.request("GET", server.url("/a")).text == "3")
        #expect(server.requests.count == 3)
    }

    @Test(
        arguments: [
            [], [("Cache-Control", "no-store, max-age=60")], [("Cache-Control", "max-age=60"), ("Vary", "*")],
            [("Cache-Control", "no-store,\u{301}, max-age=60")],
            [("Cache-Control", "max-age=60"), ("Vary", "*,\u{301}")],
            [("Cache-Control", "max-age=soon")], [("Cache-Control", "no-cache=\"Set-Cookie\", max-age=60")],
            [("Cache-Control", "max-age=60"), ("Age", "99999999999999999999")],
            [("Expires", "0")], [("Cache-Control", "max-age=-1"), ("Expires", "Fri, 01 Jan 2100 00:00:00 GMT")],
        ] as [[(String, String)]]
    )
    func `a response that may not be reused is fetched again`(_ fields: [(String, String)]) async {
        let server = Self.server(fields)
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        #expect(await plugin.request("GET", server.url()).text == "2")
        #expect(plugin.gate.counters.cached == 0)
    }

    @Test func `a stale response is reused if the server confirms it`() async {
        let server = Self.server([("ETag", "\"v1\""), ("Cache-Control", "no-cache")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        let confirmed = await plugin.request("GET", server.url())
        #expect(confirmed.code == 200 && confirmed.text == "1")
        #expect(confirmed.fields["content-type"] == "text/plain")
        #expect(server.requests.count == 2)
        // The confirmation said for how long.
        #expect(await plugin.request("GET", server.url()).text == "1")
        #expect(server.requests.count == 2)
        #expect(plugin.gate.counters.cached == 2)
    }

    @Test func `what proves a gate comes from the server, however fresh the stored response is`() async {
        let server = Self.server([("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        plugin.gate.proofBegins()
        #expect(await plugin.request("GET", server.url()).text == "2")
        plugin.gate.proofEnds()
        // The response to the proof was stored.
        #expect(await plugin.request("GET", server.url()).text == "2")
        #expect(server.requests.count == 2)
    }

    @Test func `a proof that the server confirms uses the stored response`() async {
        let server = Self.server([("ETag", "\"v1\""), ("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        plugin.gate.proofBegins()
        let confirmed = await plugin.request("GET", server.url())
        plugin.gate.proofEnds()
        #expect(confirmed.code == 200 && confirmed.text == "1")
        #expect(server.requests.count == 2)
    }

    @Test func `a gate is opened and proved by the server, although its calls reuse the response`() async throws {
        let server = Self.server([("Cache-Control", "max-age=3600")])
        defer { server.stop() }
        let leaf = Connector(
            "gate",
            plugin: KeyPlugin.self,
            config: ["endpoint": .string(server.url()), "key": ["secret": "env:KEY"]],
            probeInterval: .seconds(60),
            cacheBytes: 1 << 20
        )
        let host = try ConnectorHost.testing("[]", appending: [leaf], environment: ["KEY": "k"], clock: clock)
        #expect(await host.open().isReady)
        _ = try await host.gate("gate").call("ask")
        #expect(server.requests.count == 1)
        await clock.timers(atLeast: 1)
        let before = host.report["gate"]?.evidence.last?.at
        clock.advance(by: .seconds(60))
        _ = await host.report { $0["gate"]?.evidence.last?.at != before || $0["gate"]?.state != .open }
        #expect(server.requests.count == 2)
        await host.close()
    }

    @Test func `the date of the last change is a validator too`() async {
        let time = "Thu, 01 Jan 1970 00:00:00 GMT"
        let server = LoopbackServer { request in
            request.fields["if-modified-since"] == time
                ? .response(304) : .response(200, [("Last-Modified", time)], Array("old".utf8))
        }
        defer { server.stop() }
        let plugin = plugin()
        for _ in 1...3 { #expect(await plugin.request("GET", server.url()).text == "old") }
        #expect(plugin.gate.counters.cached == 2)
    }

    @Test(
        arguments: [
            ("Range", "bytes=0-1"), ("If-None-Match", "\"mine\""), ("Cache-Control", "no-store"),
            ("Cache-Control", "no-cache"), ("Cache-Control", "max-age=0"), ("Accept-Language", "de"),
        ]
    )
    func `a request can bypass the cache`(_ field: (String, String)) async {
        let server = Self.server([("Cache-Control", "max-age=60"), ("Vary", "accept-language")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url(), fields: [("Accept-Language", "en")]).text == "1")
        let fields = field.0 == "Accept-Language" ? [field] : [("Accept-Language", "en"), field]
        #expect(await plugin.request("GET", server.url(), fields: fields).text == "2")
    }

    @Test(arguments: [("Acme", "acme"), ("a b", "ab"), ("a,b", "a,,b")])
    func `a response that varies with a header is reused only for exactly the same value`(
        _ value: String,
        _ other: String
    ) async {
        let server = Self.server([("Cache-Control", "max-age=60"), ("Vary", "Accept, X-Tenant")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url(), fields: [("X-Tenant", value)]).text == "1")
        #expect(await plugin.request("GET", server.url(), fields: [("x-tenant", value)]).text == "1")
        #expect(await plugin.request("GET", server.url(), fields: [("X-Tenant", other)]).text == "2")
    }

    @Test func `a response for one user is not reused for another one`() async {
        let server = Self.server([("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin()
        func text(_ fields: (String, String)...) async -> String {
            await plugin.request("GET", server.url(), fields: fields).text
        }
        #expect(await text(("Authorization", "Bearer a")) == "1")
        #expect(await text(("authorization", "Bearer a")) == "1")
        #expect(await text(("Authorization", "Bearer b")) == "2")
        #expect(await text(("Authorization", "Bearer a")) == "3")
        #expect(await text() == "4")
    }

    @Test(arguments: ["POST", "PUT", "DELETE", "PATCH"])
    func `a request that changes the resource drops its stored response`(_ method: String) async {
        let server = Self.server([("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        #expect(await plugin.request(method, server.url()).text == "2")
        #expect(await plugin.request("GET", server.url()).text == "3")
    }

    @Test(arguments: [302, 307])
    func `a write that is redirected drops the stored response of each URL that it was sent to`(status: Int) async {
        let count = Atomic(0)
        let server = LoopbackServer { request in
            if request.line.hasPrefix("PUT /old ") { return .response(status, [("Location", "/new")]) }
            let number = count.add(1, ordering: .relaxed).newValue
            return .response(200, [("Cache-Control", "max-age=60")], Array("\(number)".utf8))
        }
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url("/old")).text == "1")
        #expect(await plugin.request("GET", server.url("/new")).text == "2")
        #expect(await plugin.request("PUT", server.url("/old")).text == "3")
        #expect(await plugin.request("GET", server.url("/old")).text == "4")
        #expect(await plugin.request("GET", server.url("/new")).text == "5")
    }

    @Test func `a write that fails leaves what is stored, and a redirect on the way to the failure does not`() async {
        let count = Atomic(0)
        let server = LoopbackServer { request in
            if request.line.hasPrefix("PUT /old ") { return .response(307, [("Location", "/new")]) }
            if request.line.hasPrefix("PUT ") { return .response(500) }
            let number = count.add(1, ordering: .relaxed).newValue
            return .response(200, [("Cache-Control", "max-age=60")], Array("\(number)".utf8))
        }
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url("/old")).text == "1")
        #expect(await plugin.request("GET", server.url("/new")).text == "2")
        #expect(await plugin.request("PUT", server.url("/old")).code == 500)
        #expect(await plugin.request("GET", server.url("/old")).text == "3")
        #expect(await plugin.request("GET", server.url("/new")).text == "2")
    }

    @Test func `a lifetime that is too large to count lasts`() async {
        let server = Self.server([("Cache-Control", "max-age=99999999999999999999")])
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url()).text == "1")
        clock.advance(by: .seconds(86_400))
        #expect(await plugin.request("GET", server.url()).text == "1")
    }

    @Test func `a response behind a redirect is not stored, and the condition is not sent on to it`() async {
        let isMoved = Atomic(false)
        let server = LoopbackServer { request in
            if request.line.contains("/new") {
                return .response(200, [("Cache-Control", "max-age=60")], Array("new".utf8))
            }
            if isMoved.load(ordering: .relaxed) { return .response(302, [("Location", "/new")]) }
            return .response(200, [("ETag", "\"a\"")], Array("old".utf8))
        }
        defer { server.stop() }
        let plugin = plugin()
        #expect(await plugin.request("GET", server.url("/old")).text == "old")
        isMoved.store(true, ordering: .relaxed)
        #expect(await plugin.request("GET", server.url("/old")).text == "new")
        #expect(server.requests.map { $0.fields["if-none-match"] } == [nil, "\"a\"", nil])
        isMoved.store(false, ordering: .relaxed)
        #expect(await plugin.request("GET", server.url("/old")).text == "old")
    }

    private func request(_ name: String) throws -> OutgoingRequest {
        try OutgoingRequest(
            RequestTemplate(
                flags: 0,
                method: "GET",
                url: "http://a.example/\(name)",
                headers: [:],
                body: [],
                deadline: .max
            ),
            options: HTTPOptions()
        ) { _ in nil }
    }

    private func isStored(_ name: String, in cache: inout HTTPCache) throws -> Bool {
        if case .fresh = cache.lookup(try request(name), now: 0) { return true }
        return false
    }

    private func store(_ name: String, _ count: Int = 1 << 10, in cache: inout HTTPCache) throws {
        cache.store(
            HTTPResponse(
                status: 200,
                headers: ["Cache-Control": "max-age=60"],
                body: [UInt8](repeating: 0, count: count)
            ),
            to: try request(name),
            now: 0,
            wallTime: Timestamp(nanoseconds: 0)
        )
    }

    @Test func `the least recently used responses are dropped first`() {
        var cache = HTTPCache(limit: 8 << 10)
        func isStored(_ name: String) throws -> Bool { try self.isStored(name, in: &cache) }
        func store(_ name: String, _ count: Int = 1 << 10) throws { try self.store(name, count, in: &cache) }
        #expect(throws: Never.self) {
            for name in ["a", "b", "c", "d"] { try store(name) }
            #expect(try isStored("a"))
            try store("e")
            #expect(try isStored("a") && !isStored("b") && isStored("c") && isStored("e"))
            try store("f", 9 << 10)
            #expect(try !isStored("f") && isStored("a"))
            // Stored again, it counts once.
            for _ in 1...100 { try store("a") }
            #expect(try isStored("c") && isStored("d") && isStored("e"))
            // However often one is used, the others keep their places.
            for _ in 1...1000 { #expect(try isStored("e")) }
            try store("g")
            #expect(try !isStored("a") && isStored("c") && isStored("d") && isStored("e") && isStored("g"))
        }
    }

    /// The suite's time limit would not allow a look through the whole cache for each response.
    @Test func `a full cache of many small responses keeps storing new ones`() throws {
        var cache = HTTPCache(limit: 16 << 20)
        for number in 0..<50_000 { try store("\(number)", 0, in: &cache) }
        let (first, last) = (try isStored("0", in: &cache), try isStored("49999", in: &cache))
        #expect(!first && last)
    }

    @Test func `nothing is cached unless it is allowed`() async {
        let server = Self.server([("Cache-Control", "max-age=60")])
        defer { server.stop() }
        let plugin = plugin(bytes: 0)
        #expect(await plugin.request("GET", server.url()).text == "1")
        #expect(await plugin.request("GET", server.url()).text == "2")
    }

    @Test func `the file says how much is cached`() throws {
        let leaf = #"{"name": "a", "plugin": "p", "http": {"cacheBytes": 1048576}}, {"name": "b", "plugin": "p"}"#
        let read = try Configuration(parsing: #"{"version": 1, "connectors": [\#(leaf)]}"#)
        #expect(read.connectors.map(\.cacheBytes) == [1 << 20, 0])
        for wrong in ["-1", "1073741825", "\"1MB\"", "1.5"] {
            let text =
                #"{"version": 1, "connectors": [{"name": "a", "plugin": "p", "http": {"cacheBytes": \#(wrong)}}]}"#
            let faults = #expect(throws: ConfigurationErrors.self) { try Configuration(parsing: text) }
            #expect(faults?.errors.first?.position != nil)
        }
        for wrong in [-1, Connector.cacheLimit + 1] {
            #expect(throws: ConfigurationErrors.self) {
                try Configuration(connectors: [Connector("a", plugin: "p", cacheBytes: wrong)])
            }
        }
    }
}
