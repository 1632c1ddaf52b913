// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests that fail, each in the way that its cause calls for.
@Suite struct HTTPFailureTests {
    @Test func `a refused connection is unavailable, with its errno`() async throws {
        let port = try LoopbackPort.free()
        let end = await PluginSide().request("GET", "http://127.0.0.1:\(port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.isDone)
        #expect(end.domain == "errno")
        #expect(end.detail == 111)
        #expect(end.isRetryable)
        #expect(end.message.hasPrefix("no connection to 127.0.0.1:\(port)"))
        #expect(end.message.contains("refused"))
    }

    @Test func `a host without an address is unavailable`() async {
        let plugin = PluginSide(egress: ["*"])
        let end = await plugin.request("GET", "http://nothing.invalid/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.message.contains("nothing.invalid"))
    }

    @Test func `a reset is unavailable`() async {
        let server = LoopbackServer { _ in .reset }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.isRetryable)
    }

    @Test func `a connection that closes without an answer is unavailable`() async {
        let server = LoopbackServer { _ in .raw("") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_UNAVAILABLE)
    }

    @Test func `a truncated response is unavailable`() async {
        let server = LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_UNAVAILABLE)
    }

    @Test(arguments: ["garbage\r\n\r\n", "HTTP/9.9 abc\r\n\r\n", "\u{1}\u{2}\u{3}\u{4}\r\n"])
    func `garbage is a breach of the protocol`(answer: String) async {
        let server = LoopbackServer { _ in .raw(answer) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.domain == "http")
        #expect(end.isRetryable, "something between may have sent it")
        #expect(end.message.contains("not HTTP"))
    }

    @Test(arguments: ["000", "001", "099"], ["Content-Length: 0\r\n", "Content-Length: 2\r\n", ""])
    func `a status below 100 is a breach of the protocol, whatever follows it`(status: String, field: String) async {
        let server = LoopbackServer { _ in .raw("HTTP/1.1 \(status) No\r\n\(field)\r\nnoHTTP/1.1 200 OK\r\n\r\n") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL, "\(end.message)")
        #expect(end.message.contains("not HTTP"))
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\nContent-Length: 2\n\nok",
        "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
    ])
    func `an answer with the wrong line ends, or with two lengths, says so`(answer: String) async {
        let server = LoopbackServer { _ in .raw(answer) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(
            end.message
                == "the answer of 127.0.0.1:\(server.port) is not HTTP: a line ends in LF without CR, or Transfer-Encoding is invalid "
                + "or stands beside Content-Length"
        )
    }

    @Test func `an answer with a field that continues in the next line says so`() async {
        let server = LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nX-A: 1\r\n 2\r\nContent-Length: 0\r\n\r\n") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL && end.message.contains("may not continue in the next line"))
    }

    @Test(arguments: [255, 256])
    func `an answer has at most 256 header fields`(others: Int) async {
        let fields = (0..<others).map { "x-\($0): a\r\n" }.joined()
        let server = LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        guard others == 256 else { return #expect(end.code == 200 && end.fields.count == 256, "\(end.message)") }
        #expect(end.status == CONNECTOR_PROTOCOL)
        let words = "has more headers than can be read: 256 fields, 80 KiB in one of them, 2 MiB in all"
        #expect(end.message == "the answer of 127.0.0.1:\(server.port) \(words)")
    }

    @Test func `a transfer coding that nobody undoes is a breach of the protocol`() async {
        let server = LoopbackServer { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n")
        }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.message == "the answer has the transfer coding \"gzip\", which the request does not allow")
    }

    @Test(arguments: ["", "Connection: upgrade\r\nUpgrade: other\r\n", "Content-Length: 2\r\n"])
    func `a change of protocols that nobody asked for ends the request`(fields: String) async {
        let server = LoopbackServer { _ in
            .raw("HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
        }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.code == 101 || end.status == CONNECTOR_PROTOCOL, "\(end.code) \(end.message)")
    }

    @Test func `a server without TLS at an https URL is unavailable`() async {
        let server = LoopbackServer(readsRequests: false) { _ in .raw("HTTP/1.1 400 No\r\n\r\n") }
        defer { server.stop() }
        let end = await PluginSide().request("GET", "https://127.0.0.1:\(server.port)/")
        #expect(end.status == CONNECTOR_UNAVAILABLE)
        #expect(
            end.message
                == "127.0.0.1:\(server.port) does not speak TLS (WRONG_VERSION_NUMBER); its URL may need to start with http://"
        )
        #expect(end.domain == "tls")
    }

    @Test func `a stalled server times out at the deadline`() async {
        let clock = ManualHostClock()
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        async let end = plugin.request("GET", server.url(), deadline: clock.now() + 2_000_000_000)
        await clock.timer(dueAfter: .seconds(2))
        clock.advance(by: .seconds(1))
        #expect(clock.hasTimer(dueAfter: .seconds(1)))
        clock.advance(by: .seconds(1))
        let result = await end
        #expect(result.status == CONNECTOR_TIMED_OUT)
        #expect(result.isDone)
        #expect(result.isRetryable)
    }

    @Test func `a request without a deadline times out after thirty seconds`() async {
        let clock = ManualHostClock()
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        async let end = plugin.request("GET", server.url())
        await clock.timer(dueAfter: .seconds(30))
        clock.advance(by: .milliseconds(29_999))
        #expect(clock.hasTimer(dueAfter: .milliseconds(1)))
        clock.advance(by: .milliseconds(1))
        #expect(await end.status == CONNECTOR_TIMED_OUT)
    }

    @Test func `an answered request leaves no timer behind`() async {
        let clock = ManualHostClock()
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        #expect(await plugin.request("GET", server.url()).status == CONNECTOR_OK)
        #expect(clock.timerCount == 0)
    }

    @Test(arguments: [true, false])
    func `a response over the limit breaches the protocol, whether or not it states its length`(saysLength: Bool) async
    {
        let body = String(repeating: "x", count: 2000)
        let server = LoopbackServer { _ in
            saysLength ? .response(200, [], Array(body.utf8)) : .raw("HTTP/1.1 200 OK\r\n\r\n" + body)
        }
        defer { server.stop() }
        let host = HostServices(options: .init(http: .limited(toResponse: 1999)))
        let end = await PluginSide(host: host).request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.message.contains("1999 bytes"))
        #expect(!end.isRetryable, "it would be as large again")
    }

    @Test func `a small response that decompresses beyond the limit breaches the protocol too`() async throws {
        let packed = try Gzip.compress([UInt8](repeating: 0, count: 1 << 20))
        let server = LoopbackServer { _ in .response(200, [("Content-Encoding", "gzip")], packed) }
        defer { server.stop() }
        let host = HostServices(options: .init(http: .limited(toResponse: 1 << 16)))
        let end = await PluginSide(host: host).request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
    }

    @Test func `a body that is not what its encoding says is a breach of the protocol`() async {
        let server = LoopbackServer { _ in .response(200, [("Content-Encoding", "gzip")], Array("plain".utf8)) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL && end.isRetryable)
    }

    @Test func `a host off the list is denied before anything connects`() async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide(egress: ["api.example.com"])
        let end = await plugin.request("GET", server.url("/?key={{secret:key}}"))
        #expect(end.status == CONNECTOR_DENIED)
        #expect(!end.isDone)
        #expect(end.message.contains(#""allow": {"hosts": ["127.0.0.1:\#(server.port)"]}"#))
        #expect(server.requests.isEmpty)
        #expect(plugin.gate.counters.requests == 0)
    }

    @Test func `no error reveals a secret`() async {
        let plugin = PluginSide(egress: [], secrets: ["key": "topsecret"])
        let end = await plugin.request("GET", "http://{{secret:key}}.example/{{secret:key}}")
        #expect(end.status == CONNECTOR_DENIED)
        #expect(!end.message.contains("topsecret"))
    }

    @Test(arguments: [
        ("GET", "/relative"), ("GET", "ftp://127.0.0.1/"), ("GET", "http://"), ("GET", "http://user:pass@127.0.0.1/"),
        ("GET", "http://127.0.0.1:99999/"), ("GET", "http://127.0.0.1%2eexample/"), ("", "http://127.0.0.1/"),
        ("GE T", "http://127.0.0.1/"), ("CONNECT", "http://127.0.0.1/"), ("GET", "http://127.0.0.1/{{secret:nobody}}"),
        ("GET", "http://exämple.com/"),
    ])
    func `a request that cannot be sent is invalid`(method: String, url: String) async {
        let end = await PluginSide(egress: ["*"]).request(method, url)
        #expect(end.status == CONNECTOR_INVALID)
        #expect(!end.isDone)
        #expect(!end.message.isEmpty)
    }

    @Test func `a request whose deadline has passed is not sent`() async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide()
        for deadline in 1...50 {
            let end = await plugin.request("POST", server.url(), body: [1], deadline: UInt64(deadline))
            #expect(end.status == CONNECTOR_TIMED_OUT && end.isDone)
            #expect(end.message.hasPrefix("the request to 127.0.0.1:\(server.port) was not sent"), "\(end.message)")
        }
        let stream = try plugin.stream("GET", server.url(), deadline: 1)
        let end = try #require(await stream.next())
        #expect(end.status == CONNECTOR_TIMED_OUT && end.isDone)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: ["%FF", "caf%E9.txt", "%C3%28/x", "%ED%A0%80", "%F4%90%80%80", "%c3?x=1"])
    func `a path that is not UTF-8 is invalid, and nothing reaches the server in its place`(path: String) async {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide()
        for method in ["GET", "DELETE", "PUT"] {
            let end = await plugin.request(method, server.url("/n/5/\(path)"), body: [1])
            #expect(end.status == CONNECTOR_INVALID && !end.isDone)
            #expect(end.message.contains("not UTF-8"), "\(end.message)")
            let stream = #expect(throws: RequestEnd.self) { _ = try plugin.stream(method, server.url("/n/5/\(path)")) }
            #expect(stream?.status == CONNECTOR_INVALID)
        }
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: [
        ("X Y", "1"), ("", "1"), ("X", "a\r\nInjected: yes"), ("X", "a\u{0}b"), ("X", "{{secret:lines}}"),
    ])
    func `a header that would break the request is invalid`(name: String, value: String) async {
        let plugin = PluginSide(egress: ["*"], secrets: ["lines": "a\nb"])
        let end = await plugin.request("GET", "http://127.0.0.1/", fields: [(name, value)])
        #expect(end.status == CONNECTOR_INVALID)
        #expect(!end.message.contains("a\nb"))
    }
}

extension HTTPOptions {
    /// No limits but the size of a response.
    static func limited(toResponse limit: Int) -> HTTPOptions {
        var options = HTTPOptions.patient
        options.responseLimit = limit
        return options
    }
}
