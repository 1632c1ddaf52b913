// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Testing

@testable import ConnectorPlatform
@testable import ConnectorServices

/// A recording in the vendor's place.
@Suite(.timeLimit(.minutes(5))) struct RecordingReplayTests {
    private static func record(_ requests: [(method: String, path: String, body: String)]) async -> RecordingBench {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        let plugin = session.plugin()
        for (method, path, body) in requests {
            #expect(await plugin.request(method, server.url(path), body: Array(body.utf8)).code == 200)
        }
        return session
    }

    @Test(arguments: [
        ("GET", "/v1/notes?page=3", "", "GET /v1/notes: query \"page\" is \"3\", not \"2\""),
        ("GET", "/v1/notes?page=2&size=9", "", "GET /v1/notes: query \"size\" is \"9\", and was not there"),
        ("GET", "/v1/notes", "", "GET /v1/notes: query \"page\" is missing; it was \"2\""),
        ("DELETE", "/v1/notes?page=2", "", "the method is DELETE, not "),
        ("GET", "/v1/note?page=2", "", "GET /v1/notes: the path differs"),
        ("POST", "/v1/notes", #"{"title":"Milk","n":[1,3]}"#, "body n[1] is 3, not 2"),
        ("POST", "/v1/notes", #"{"title":"Milk","n":[1,2],"more":1}"#, "body more is 1, and was not there"),
        ("POST", "/v1/notes", #"{"n":[1,2]}"#, "body title is missing; it was \"Milk\""),
        ("POST", "/v1/text", "two words", "the body is \"two words\", not \"one word\""),
    ])
    func `a request without a recorded answer fails, and the error names the nearest one`(
        method: String,
        path: String,
        body: String,
        reason: String
    ) async throws {
        let session = await Self.record([
            ("GET", "/v1/notes?page=2", ""), ("POST", "/v1/notes", #"{"title":"Milk","n":[1,2]}"#),
            ("POST", "/v1/text", "one word"), ("GET", "/v2/other/thing", ""),
        ])
        try await session.replay { plugin, url in
            let end = await plugin.request(method, url + path, body: Array(body.utf8))
            #expect(end.status == CONNECTOR_FAILED && !end.isRetryable)
            #expect(end.message.hasPrefix("no answer is recorded for \(method) "), "\(end.message)")
            #expect(end.message.contains(reason), "\(end.message)")
            let parts = try plugin.stream(method, url + "/nowhere")
            let only = try #require(await parts.next())
            #expect(only.isDone && only.status == CONNECTOR_FAILED)
        }
    }

    @Test func `a replay adds no type to a response, and leaves parts as compressed as they came`() async throws {
        let packed = try Gzip.compress(Array("hello".utf8))
        let server = LoopbackServer { request in
            request.line.contains("/packed")
                ? .response(200, [("Content-Encoding", "gzip")], packed) : .response(200, [], Array("plain".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async throws {
            let plain = await plugin.request("GET", url + "/plain")
            #expect(plain.text == "plain" && plain.fields["content-type"] == nil, "\(plain.message)")
            let parts = try plugin.stream("GET", url + "/packed")
            #expect(await parts.next()?.fields["content-encoding"] == "gzip")
            var received: [UInt8] = []
            while let part = await parts.part(), !part.isDone { received += part.body }
            #expect(received == packed)
        }
        try await ask(session.plugin(), server.url(""))
        try await session.replay { try await ask($0, $1) }
    }

    @Test func `a secret that names a query item is replayed with another key`() async throws {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async {
            let end = await plugin.request("GET", url + "/a?{{secret:key}}=1&b=2")
            #expect(end.text == "ok", "\(end.message)")
        }
        await ask(session.plugin(), server.url(""))
        try await session.replay { plugin, url in
            await ask(plugin, url)
            let end = await plugin.request("GET", url + "/a?{{secret:key}}=2&b=2")
            #expect(end.status == CONNECTOR_FAILED)
        }
    }

    @Test func `the header that chooses an answer is compared, and a credential is not`() async throws {
        let server = LoopbackServer { _ in .response(206, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        let fields = [("Range", "bytes=0-1"), ("Authorization", "Bearer x"), ("User-Agent", "a")]
        #expect(await session.plugin().request("GET", server.url("/f"), fields: fields).code == 206)
        try await session.replay { plugin, url in
            let same = [("Range", "bytes=0-1"), ("Authorization", "Bearer y"), ("User-Agent", "b")]
            #expect(await plugin.request("GET", url + "/f", fields: same).code == 206)
            let end = await plugin.request("GET", url + "/f", fields: [("Range", "bytes=5-6")])
            #expect(end.message.contains("header \"range\" is \"bytes=5-6\", not \"bytes=0-1\""), "\(end.message)")
        }
    }

    @Test func `an answer to a request with a body or a field comes before one to a request without`() async throws {
        let server = LoopbackServer { request in
            let accept = request.fields["accept"] ?? "-"
            return .response(200, [], Array("\(request.line) \(accept) \(request.text.count)".utf8))
        }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async -> [String] {
            let multipart = [("Content-Type", "multipart/form-data; boundary=b")]
            let requests: [(String, String, [(String, String)], [UInt8])] = [
                ("POST", "/echo", [], []),
                ("POST", "/echo", [], Array(#"{"key":"{{secret:key}}","q":"one"}"#.utf8)),
                ("GET", "/things", [], []), ("GET", "/things", [("Accept", "*/*")], []),
                ("PUT", "/file", multipart, [0xFF]), ("PUT", "/file", [], Array("{{secret:key}}!".utf8)),
            ]
            var texts: [String] = []
            for (method, path, fields, body) in requests {
                let end = await plugin.request(method, url + path, fields: fields, body: body)
                texts.append("\(end.text)\(end.message)")
            }
            return texts
        }
        let recorded = await ask(session.plugin(), server.url(""))
        #expect(Set(recorded).count == recorded.count)
        try await session.replay { plugin, url in
            #expect(await ask(plugin, url) == recorded)
            // Something else than what was sent, though nothing was.
            let end = await plugin.request("POST", url + "/echo", body: Array(#"{"q":"two"}"#.utf8))
            #expect(end.status == CONNECTOR_FAILED, "\(end.text)")
        }
    }

    @Test func `of paths with a secret, one that fits fewer requests comes before one that fits more`() async throws {
        let server = LoopbackServer { .response(200, [], Array("\($0.line.utf8.count)".utf8)) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async -> [String] {
            let key = "{{secret:key}}"
            var texts: [String] = []
            for path in ["/bot\(key)", "/bot\(key)/send", "/bot\(key)/\(key)/list", "/bot/about"] {
                let end = await plugin.request("GET", url + path)
                texts.append("\(end.text)\(end.message)")
            }
            return texts
        }
        let recorded = await ask(session.plugin(), server.url(""))
        #expect(Set(recorded).count == recorded.count)
        try await session.replay { #expect(await ask($0, $1) == recorded) }
    }

    @Test func `a secret in the request is in no message`() async throws {
        let session = await Self.record([("GET", "/v1/notes?page=2", "")])
        try await session.replay { plugin, url in
            let end = await plugin.request("GET", url + "/v1/notes?page={{secret:key}}")
            #expect(end.status == CONNECTOR_FAILED && end.message.contains("•••"))
            #expect(!end.message.contains("another-key-entirely"))
        }
    }

    @Test func `a replay never reaches the network, and another host is refused`() async throws {
        let server = LoopbackServer { _ in .response(200, [], Array("ok".utf8)) }
        defer { server.stop() }
        let session = await Self.record([("GET", "/a", "")])
        try await session.replay { plugin, url in
            #expect(await plugin.request("GET", url + "/b").status == CONNECTOR_FAILED)
            #expect(await plugin.request("GET", "http://example.com/a").status == CONNECTOR_DENIED)
        }
        #expect(server.requests.isEmpty)
    }

    @Test func `the clock stands still in a recording and in its replay`() async throws {
        let server = LoopbackServer { request in .response(200, [], request.body) }
        defer { server.stop() }
        let session = RecordingBench()
        func ask(_ plugin: PluginSide, _ url: String) async throws -> [UInt64] {
            var times: [UInt64] = []
            for _ in 1...2 {
                let clock = try unsafe #require(plugin.clock).pointee
                let now = unsafe clock.wall_ns(clock.context)
                times.append(now)
                let end = await plugin.request("POST", url + "/track", body: Array("{\"sentAt\":\(now)}".utf8))
                #expect(end.code == 200, "\(end.message)")
                session.clock.advance(by: .seconds(70))
            }
            return times
        }
        let recorded = try await ask(session.plugin(), server.url(""))
        #expect(Set(recorded) == [1_767_225_600_000_000_000])
        #expect(session.text.contains(#""time": "2026-01-01T00:00:00.000Z""#))
        try await session.replay { plugin, url in
            let times = try await ask(plugin, url)
            #expect(times == recorded)
        }
        // After ten minutes the plugin has the host's time again.
        let plugin = session.plugin()
        let start = session.clock.wallTime()
        #expect(plugin.gate.wallTime.nanoseconds / 1_000_000_000 == start.nanoseconds / 1_000_000_000)
        session.clock.advance(by: .seconds(601))
        #expect(plugin.gate.wallTime == session.clock.wallTime())
    }

    @Test func `two recordings at different times are equal if the time is given`() async throws {
        let server = LoopbackServer { request in .response(200, [], request.body) }
        defer { server.stop() }
        var texts: [String] = []
        for offset in [0, 5000] {
            let session = RecordingBench()
            session.clock.advance(by: .seconds(offset))
            let plugin = session.plugin(Timestamp(parsing: "2026-01-31T09:30:00Z"))
            let body = Array("{\"sentAt\":\"\(plugin.gate.wallTime)\"}".utf8)
            #expect(await plugin.request("POST", server.url("/track"), body: body).code == 200)
            texts.append(session.text)
        }
        #expect(texts[0] == texts[1] && texts[0].contains("2026-01-31T09:30:00.000Z"))
    }
}
