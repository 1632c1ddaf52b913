// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests that arrive, over a real connection, through the C table.
@Suite struct HTTPRequestTests {
    @Test func `a request carries method, path, headers and body, and its answer comes back whole`() async {
        let server = LoopbackServer { _ in .response(201, [("X-Answer", "yes")], Array("created".utf8)) }
        defer { server.stop() }
        let plugin = PluginSide()
        let end = await plugin.request(
            "POST",
            server.url("/things?a=b#part"),
            fields: [("Content-Type", "text/plain")],
            body: Array("hello".utf8)
        )
        #expect(end.status == CONNECTOR_OK)
        #expect(end.code == 201)
        #expect(end.fields["x-answer"] == "yes")
        #expect(end.text == "created")
        let request = server.requests.first
        #expect(request?.line == "POST /things?a=b HTTP/1.1")
        #expect(request?.fields["content-type"] == "text/plain")
        #expect(request?.fields["host"] == "127.0.0.1:\(server.port)")
        #expect(request?.fields["user-agent"] == "connector-host")
        #expect(request?.text == "hello")
    }

    @Test(arguments: [200, 204, 304, 400, 404, 500, 503])
    func `a response of any status is a success of the request`(status: Int) async {
        let server = LoopbackServer { _ in .response(status) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_OK)
        #expect(end.code == UInt32(status))
    }

    @Test func `a response that has no body may state any length`() async {
        let server = LoopbackServer { request in
            .raw("HTTP/1.1 \(request.line.hasPrefix("HEAD") ? 200 : 304) Reason\r\nContent-Length: 20000000\r\n\r\n")
        }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url()).code == 304)
        #expect(await PluginSide().request("HEAD", server.url()).code == 200)
    }

    @Test(arguments: [200, 401, 413, 503])
    func `an answer that comes before a long body is sent is the response, though the connection closes`(
        status: Int
    ) async {
        // It answers the first bytes of the request, reads no more, and closes only at the end of the test.
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        heads.send("\(status) Reason\r\nConnection: close\r\nContent-Length: 13\r\n\r\ntoo large")
        // More than the connection's buffers take.
        let body = [UInt8](repeating: 0x61, count: 8 << 20)
        let end = await PluginSide().request("POST", server.url(), body: body)
        #expect(end.code == UInt32(status) && end.text == "too large\r\n\r\n", "\(end.message)")
    }

    @Test func `the host sets the headers that the connection needs`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let end = await PluginSide().request(
            "POST",
            server.url(),
            fields: [
                ("Host", "other.example"), ("Content-Length", "3"), ("Connection", "close"), ("User-Agent", "mine"),
            ],
            body: Array("12345".utf8)
        )
        #expect(end.status == CONNECTOR_OK)
        let request = server.requests.first
        #expect(request?.fields["host"] == "127.0.0.1:\(server.port)")
        #expect(request?.fields["content-length"] == "5")
        #expect(request?.fields["user-agent"] == "mine")
    }

    @Test func `requests name the version of connector-host, unless the application says otherwise`() {
        var options = HTTPOptions()
        #expect(options.identifyingHost().userAgent == "connector-host/\(ConnectorHost.version)")
        options.userAgent = "shop/2.1"
        #expect(options.identifyingHost().userAgent == "shop/2.1")
        options.userAgent = "shop\r\nX-More: y"
        #expect(options.userAgent == "shop  X-More: y", "a header ends at a line break")
    }

    @Test(arguments: ["PROPFIND", "MKCOL", "VERSION-CONTROL", "x!"])
    func `any token is a method`(method: String) async {
        let server = LoopbackServer { _ in .response(207, [], Array("found".utf8)) }
        defer { server.stop() }
        let end = await PluginSide().request(method, server.url("/a"), body: Array("body".utf8))
        #expect(end.status == CONNECTOR_OK && end.code == 207 && end.text == "found")
        #expect(server.requests.first?.line == "\(method) /a HTTP/1.1")
        #expect(server.requests.first?.text == "body")
    }

    @Test(arguments: [
        ("/a%20b%zz", "/a%20b%25zz"), ("/a?b=%20c&d=100%", "/a?b=%20c&d=100%25"), ("/%", "/%25"), ("/%%41", "/%25%41"),
        ("/a?b=%FF", "/a?b=%FF"), ("/%C3%A9;v=1/%2F//", "/%C3%A9;v=1/%2F//"),
    ])
    func `the escapes of a URL are sent as they are, and a percent sign that is none as %25`(
        path: String,
        sent: String
    ) async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url(path)).code == 200)
        #expect(server.requests.first?.line == "GET \(sent) HTTP/1.1")
    }

    @Test func `a signature is made with the secret when the request is sent`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        _ = await PluginSide().request(
            "GET",
            server.url(),
            fields: [("Authorization", "{{hmac-sha256:{{secret:key}}|a{{sha256:b}}}}")]
        )
        #expect(
            server.requests.first?.fields["authorization"]
                == "004a40351695ed2fe3b5c7b4035bd73343b802284a589e2de7a2e5717b37e7c6"
        )
    }

    @Test func `secrets reach the server in URL, header and body`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        _ = await PluginSide().request(
            "POST",
            server.url("/v1?key={{secret:key}}"),
            fields: [("Authorization", "Basic {{base64:{{secret:key}}:}}"), ("Content-Type", "application/json")],
            body: Array(#"{"writeKey":"{{secret:key}}","other":"{{secret:nobody}}"}"#.utf8)
        )
        let request = server.requests.first
        #expect(request?.line == "POST /v1?key=s3cr3t%2F%2B HTTP/1.1")
        #expect(request?.fields["authorization"] == "Basic czNjcjN0Lys6")
        #expect(request?.text == #"{"writeKey":"s3cr3t/+","other":"{{secret:nobody}}"}"#)
    }

    @Test func `a verbatim body keeps its braces`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let body = Array("{{secret:key}}".utf8)
        _ = await PluginSide().request(
            "POST",
            server.url(),
            body: body,
            flags: UInt32(CONNECTOR_HTTP_VERBATIM_BODY)
        )
        #expect(server.requests.first?.body == body)
    }

    @Test(arguments: [0, UInt32(CONNECTOR_HTTP_VERBATIM_BODY)])
    func `a body is compressed on request, with placeholders and without`(_ more: UInt32) async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let body = Array(String(repeating: "event ", count: 1000).utf8)
        _ = await PluginSide().request("POST", server.url(), body: body, flags: UInt32(CONNECTOR_HTTP_GZIP_BODY) | more)
        let request = try #require(server.requests.first)
        #expect(request.fields["content-encoding"] == "gzip")
        #expect(request.body.count < 200)
        #expect(try ContentCoding.gzip.decode(request.body, limit: 1 << 20) == body)
    }

    @Test func `a compressed response is decompressed, and no longer says that it is compressed`() async throws {
        let text = String(repeating: "place ", count: 10_000)
        let packed = try Gzip.compress(Array(text.utf8))
        let server = LoopbackServer { _ in .response(200, [("Content-Encoding", "gzip")], packed) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.text == text)
        #expect(end.fields["content-encoding"] == nil)
        #expect(server.requests.first?.fields["accept-encoding"] == "gzip")
    }

    @Test func `a compressed response in several members is read whole`() async throws {
        let packed = try Gzip.compress(Array("one place, ".utf8)) + Gzip.compress(Array("another place".utf8))
        let server = LoopbackServer { _ in .response(200, [("Content-Encoding", "gzip")], packed) }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url()).text == "one place, another place")
    }

    @Test func `a response with several codings is decoded as far as they are known`() async throws {
        let text = Array("one place".utf8)
        let twice = try Gzip.compress(Gzip.compress(text))
        for (fields, body, left) in [
            ([("Content-Encoding", "gzip"), ("Content-Encoding", "gzip")], text, nil),
            ([("Content-Encoding", "identity, gzip , x-gzip")], text, nil),
            ([("Content-Encoding", "br"), ("Content-Encoding", "gzip, gzip")], text, "br"),
            ([("Content-Encoding", "gzip, gzip, br")], twice, "gzip, gzip, br"),
        ] as [([(String, String)], [UInt8], String?)] {
            let server = LoopbackServer { _ in .response(200, fields, twice) }
            defer { server.stop() }
            let end = await PluginSide().request("GET", server.url())
            #expect(end.body == body && end.fields["content-encoding"] == left)
        }
    }

    @Test func `a URL has at most 8192 bytes`() async {
        let server = LoopbackServer { _ in .response(204) }
        defer { server.stop() }
        let plugin = PluginSide()
        let start = server.url()
        let longest = start + String(repeating: "p", count: 8192 - start.utf8.count)
        #expect(await plugin.request("GET", longest).code == 204)
        let longer = await plugin.request("GET", longest + "p")
        #expect(longer.status == CONNECTOR_TOO_LARGE)
        #expect(longer.message == "the URL has more than 8192 bytes; ask for fewer or shorter values at once")
        #expect(server.requests.count == 1)
    }

    @Test func `a request whose headers exceed a connection's buffer is refused, and any other is sent`() async {
        let server = LoopbackServer { .response(200, [], $0.body) }
        defer { server.stop() }
        let plugin = PluginSide()
        func fields(_ count: Int) -> [(String, String)] {
            ["X-A", "X-B"].map { ($0, String(repeating: "x", count: count)) }
        }
        let body: [UInt8] = Array("body".utf8)
        // Over connections that are used again, too.
        for _ in 1...5 {
            #expect(await plugin.request("POST", server.url(), fields: fields(30_000), body: body).body == body)
        }
        let path = "/" + String(repeating: "p", count: 4000)
        let large = await plugin.request("POST", server.url(path), fields: fields(30_000), body: body)
        #expect(large.status == CONNECTOR_TOO_LARGE && large.message.contains("61440 bytes"))
        #expect(await plugin.request("POST", server.url(), fields: fields(40_000), body: body).status != CONNECTOR_OK)
        #expect(server.requests.count == 5)
    }

    @Test func `a part of a compressed response is left as it is, and the host asks for no compression`() async throws {
        let part = Array(try Gzip.compress(Array("one place".utf8)).dropFirst(3))
        let server = LoopbackServer { _ in .response(206, [("Content-Encoding", "gzip")], part) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url(), fields: [("range", "bytes=3-")])
        #expect(end.code == 206 && end.body == part)
        #expect(end.fields["content-encoding"] == "gzip")
        #expect(server.requests.first?.fields["accept-encoding"] == "identity")
    }

    @Test func `counters tell what went over the wire`() async {
        let server = LoopbackServer { $0.line.hasPrefix("POST") ? .response(202, [], [1, 2, 3]) : .reset }
        defer { server.stop() }
        let plugin = PluginSide()
        _ = await plugin.request("POST", server.url(), body: [1, 2, 3, 4, 5])
        _ = await plugin.request("GET", server.url())
        let counters = plugin.gate.counters
        #expect(counters.requests == 2)
        #expect(counters.failures == 1)
        #expect(counters.bytesSent == 5)
        #expect(counters.bytesReceived == 3)
        #expect(counters.lastStatus == 202)
    }

    @Test func `the bodies of a gate's requests in progress are bounded together`() async {
        let server = LoopbackServer { $0.line.contains("/stall") ? .stall : .response(200) }
        defer { server.stop() }
        var options = HTTPOptions.patient
        options.bodiesLimit = 100
        let plugin = PluginSide(host: HostServices(options: .init(http: options)))
        let body = [UInt8](repeating: 0x61, count: 60)
        let started = CallCounter()
        async let first = plugin.request("POST", server.url("/stall"), body: body, onStart: { _ in started.add() })
        await started.reaches(1)
        let refused = await plugin.request("POST", server.url(), body: body)
        #expect(refused.status == CONNECTOR_RATE_LIMITED && refused.isRetryable && !refused.isDone)
        // What has ended makes room.
        for _ in 1...2 {
            #expect(await plugin.request("POST", server.url(), body: Array(body.prefix(40))).code == 200)
        }
        await plugin.gate.stopAndAwaitCallbacks()
        let end = await first
        #expect(end.status == CONNECTOR_CANCELLED)
    }

    @Test func `the responses to a gate's requests are bounded together while they arrive`() async {
        let server = LoopbackServer { request in
            .response(200, [], [UInt8](repeating: 0x61, count: request.line.contains("/long") ? 101 : 100))
        }
        defer { server.stop() }
        var options = HTTPOptions.patient
        options.responsesLimit = 100
        let plugin = PluginSide(host: HostServices(options: .init(http: options)))
        let refused = await plugin.request("GET", server.url("/long"))
        #expect(refused.status == CONNECTOR_RATE_LIMITED && refused.isRetryable && refused.isDone)
        // What has arrived makes room.
        for _ in 1...3 { #expect(await plugin.request("GET", server.url()).code == 200) }
    }

    @Test func `a request is cancelled when the host gives up the call that it serves`() async {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(http: .patient)))
        let started = CallCounter()
        async let served = plugin.request("GET", server.url(), during: 7, onStart: { _ in started.add() })
        async let other = plugin.request("GET", server.url(), during: 8, onStart: { _ in started.add() })
        await started.reaches(2)
        plugin.gate.cancelCalls(during: 7)
        let end = await served
        #expect(end.status == CONNECTOR_CANCELLED && end.message.contains("given up"))
        let left = plugin.gate.state.withLock { $0.requests.count }
        #expect(left == 1)
        plugin.gate.cancelCalls(during: 8)
        #expect(await other.status == CONNECTOR_CANCELLED)
    }

    @Test(arguments: [false, true])
    func `blanks around the value of a response's header are no part of it`(isStreamed: Bool) async throws {
        let server = LoopbackServer { _ in
            .response(
                503,
                [("Retry-After", "8 "), ("ETag", "\t \"x\" \t "), ("X-Words", "v \t w"), ("X-Empty", " \t ")]
            )
        }
        defer { server.stop() }
        let plugin = PluginSide()
        let end: RequestEnd?
        if isStreamed {
            let response = try plugin.stream("GET", server.url())
            end = await response.next()
        } else {
            end = await plugin.request("GET", server.url())
        }
        #expect(end?.code == 503)
        #expect(end?.fields["retry-after"] == "8" && end?.fields["etag"] == "\"x\"")
        #expect(end?.fields["x-words"] == "v \t w" && end?.fields["x-empty"] == "")
    }

    @Test func `many requests at once are all answered`() async {
        let server = LoopbackServer { .response(200, [], Array($0.line.utf8)) }
        defer { server.stop() }
        let plugin = PluginSide()
        let lines = await withTaskGroup { group in
            for index in 0..<100 {
                group.addTask { await plugin.request("GET", server.url("/\(index)")).text }
            }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(lines == Set((0..<100).map { "GET /\($0) HTTP/1.1" }))
    }
}
