// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Redirects, which the host follows itself.
@Suite struct HTTPRedirectTests {
    @Test func `a POST that is answered with 303 is followed by a GET without a body`() async {
        let server = LoopbackServer {
            $0.line.hasPrefix("POST /old") ? .response(303, [("Location", "/new?a=b")]) : .response(200)
        }
        defer { server.stop() }
        let end = await PluginSide().request(
            "POST",
            server.url("/old"),
            fields: [("Content-Type", "text/plain")],
            body: [1, 2]
        )
        #expect(end.code == 200)
        let last = server.requests.last
        #expect(last?.line == "GET /new?a=b HTTP/1.1")
        #expect(last?.body == [])
        #expect(last?.fields["content-type"] == nil)
    }

    @Test(arguments: [301, 302], ["POST", "PUT", "PATCH", "DELETE", "PROPFIND"])
    func `a moved request keeps its method and body`(status: Int, method: String) async {
        let server = LoopbackServer {
            $0.line.contains(" /old ") ? .response(status, [("Location", "/new")]) : .response(200)
        }
        defer { server.stop() }
        let end = await PluginSide().request(
            method,
            server.url("/old"),
            fields: [("Content-Type", "text/plain")],
            body: Array("kept".utf8)
        )
        #expect(end.code == 200)
        let last = server.requests.last
        #expect(last?.line == "\(method) /new HTTP/1.1")
        #expect(last?.text == "kept" && last?.fields["content-type"] == "text/plain")
    }

    @Test(arguments: ["PUT", "DELETE"])
    func `a write that is answered with 303 is followed by a GET`(method: String) async {
        let server = LoopbackServer {
            $0.line.contains(" /old ") ? .response(303, [("Location", "/new")]) : .response(200)
        }
        defer { server.stop() }
        #expect(await PluginSide().request(method, server.url("/old"), body: [1]).code == 200)
        #expect(server.requests.last?.line == "GET /new HTTP/1.1" && server.requests.last?.body == [])
    }

    @Test func `a write that must stay one is not made a GET, and the failure names the address`() async {
        let server = LoopbackServer { _ in .response(303, [("Location", "/new?token=1")]) }
        defer { server.stop() }
        let plugin = PluginSide()
        let end = await plugin.request("POST", server.url("/old"), body: [1], flags: CONNECTOR_HTTP_KEEP_METHOD)
        #expect(end.status == CONNECTOR_PROTOCOL && end.message.contains("/new, which would lose its body"))
        #expect(server.requests.count == 1)
    }

    @Test func `a moved GET loses its body too`() async {
        let server = LoopbackServer {
            $0.line.hasPrefix("GET /old") ? .response(302, [("Location", "/new")]) : .response(200)
        }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url("/old"), body: Array("{{secret:key}}".utf8))
        #expect(end.code == 200 && server.requests.last?.body == [])
    }

    @Test(arguments: [307, 308])
    func `a POST that is answered with 307 or 308 stays one and keeps its body`(status: Int) async {
        let server = LoopbackServer {
            $0.line.hasPrefix("POST /old") ? .response(status, [("Location", "new")]) : .response(200)
        }
        defer { server.stop() }
        let end = await PluginSide().request("POST", server.url("/old"), body: Array("{{secret:key}}".utf8))
        #expect(end.code == 200)
        #expect(server.requests.last?.line == "POST /new HTTP/1.1")
        #expect(server.requests.last?.text == "s3cr3t/+")
    }

    @Test func `a redirect to a host off the list breaks the protocol, and nothing goes there`() async {
        let other = LoopbackServer { _ in .response(200) }
        let server = LoopbackServer { _ in .response(302, [("Location", "http://localhost:\(other.port)/")]) }
        defer {
            server.stop()
            other.stop()
        }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.isDone)
        // The connector's list replaces the one by which it reaches the server.
        let hosts = #"{"hosts": ["127.0.0.1:\#(server.port)", "localhost:\#(other.port)"]}"#
        #expect(end.message.contains(hosts), "\(end.message)")
        #expect(other.requests.isEmpty)
    }

    @Test(arguments: [false, true])
    func `a redirect to another origin is the response of a request that must stay at its own, allowed or not`(
        isAllowed: Bool
    ) async {
        let other = LoopbackServer { _ in .response(200) }
        let place = isAllowed ? other.url() : "http://localhost:\(other.port)/"
        let server = LoopbackServer { request in
            guard !request.line.contains("/moved") else { return .response(307, [("Location", "/here")]) }
            guard !request.line.contains("/here") else { return .response(200, [], Array("here".utf8)) }
            return .written { write in
                let head = "HTTP/1.1 301 Moved\r\nLocation: \(place)\r\nTransfer-Encoding: chunked\r\n\r\n"
                write(Array("\(head)5\r\nthere\r\n0\r\n\r\n".utf8))
            }
        }
        defer {
            server.stop()
            other.stop()
        }
        let end = await PluginSide().request("PUT", server.url(), body: [1], flags: CONNECTOR_HTTP_KEEP_ORIGIN)
        #expect(end.code == 301 && end.text == "there", "\(end.message)")
        #expect(other.requests.isEmpty)
        let moved = await PluginSide().request("PUT", server.url("/moved"), flags: CONNECTOR_HTTP_KEEP_ORIGIN)
        #expect(moved.code == 200 && moved.text == "here")
    }

    @Test(arguments: [Array("/n/%FF?a=b".utf8), Array("/caf".utf8) + [0xE9]])
    func `a redirect to a path that is not UTF-8 breaks the protocol, and nothing is asked for in its place`(
        location: [UInt8]
    ) async {
        let server = LoopbackServer { _ in
            .written { write in
                write(Array("HTTP/1.1 302 Found\r\nLocation: ".utf8) + location)
                write(Array("\r\nContent-Length: 0\r\n\r\n".utf8))
            }
        }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url("/old"))
        #expect(end.status == CONNECTOR_PROTOCOL && end.isDone)
        #expect(end.message.contains("not UTF-8"), "\(end.message)")
        #expect(server.requests.map(\.line) == ["GET /old HTTP/1.1"])
    }

    @Test func `credentials do not follow to another origin`() async {
        let other = LoopbackServer { _ in .response(200) }
        let server = LoopbackServer { _ in .response(302, [("Location", other.url("/there"))]) }
        defer {
            server.stop()
            other.stop()
        }
        let end = await PluginSide().request(
            "GET",
            server.url(),
            fields: [("Authorization", "Bearer x"), ("X-Key", "{{secret:key}}"), ("Cookie", "a=b"), ("X-Plain", "yes")]
        )
        #expect(end.code == 200)
        #expect(server.requests.first?.fields["x-key"] == "s3cr3t/+")
        let fields = other.requests.first?.fields
        #expect(fields?["x-plain"] == "yes")
        #expect(fields?["authorization"] == nil)
        #expect(fields?["x-key"] == nil)
        #expect(fields?["cookie"] == nil)
    }

    @Test func `credentials follow within the origin`() async {
        let server = LoopbackServer {
            $0.line.contains("/old") ? .response(301, [("Location", "/new")]) : .response(200)
        }
        defer { server.stop() }
        _ = await PluginSide().request("GET", server.url("/old"), fields: [("Authorization", "Bearer {{secret:key}}")])
        #expect(server.requests.last?.fields["authorization"] == "Bearer s3cr3t/+")
    }

    @Test func `a body with a secret does not follow to another origin`() async {
        let other = LoopbackServer { _ in .response(200) }
        let server = LoopbackServer { _ in .response(307, [("Location", other.url())]) }
        defer {
            server.stop()
            other.stop()
        }
        let end = await PluginSide().request("POST", server.url(), body: Array("{{secret:key}}".utf8))
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(other.requests.isEmpty)
    }

    @Test func `a circle ends after five redirects`() async {
        let server = LoopbackServer { _ in .response(302, [("Location", "/again")]) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(server.requests.count == 6)
    }

    @Test(arguments: ["", "Transfer-Encoding: chunked\r\n", "Content-Length: 65537\r\n"], [false, true])
    func `the body of a redirect that is long or never ends is not awaited`(length: String, isStreamed: Bool)
        async throws
    {
        let line = ScriptLine()
        let server = LoopbackServer { request in
            guard request.line.contains("/old") else { return .response(200, [], Array("new".utf8)) }
            return .written { write in
                write(Array("HTTP/1.1 302 Found\r\nLocation: /new\r\n\(length)\r\n5\r\nmoved\r\n".utf8))
                _ = line.next()
            }
        }
        defer {
            line.send(nil)
            server.stop()
        }
        guard isStreamed else {
            #expect(await PluginSide().request("GET", server.url("/old")).text == "new")
            return
        }
        let response = try PluginSide().stream("GET", server.url("/old"))
        #expect(await response.next()?.code == 200)
        #expect(await response.part()?.text == "new")
        #expect(await response.part()?.isDone == true)
    }

    @Test func `a short redirect leaves its connection for the request that follows`() async {
        let server = LoopbackServer {
            $0.line.contains("/old") ? .response(302, [("Location", "/new")], Array("moved".utf8)) : .response(200)
        }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url("/old")).code == 200)
        #expect(server.connectionCount == 1)
    }

    @Test(arguments: [false, true])
    func `a redirect of HEAD leaves its connection for the request that follows, whatever length it states`(
        isStreamed: Bool
    ) async throws {
        let server = LoopbackServer { request in
            let length = ("Content-Length", "65537")
            return request.line.contains("/old")
                ? .response(302, [("Location", "/new"), length]) : .response(200, [length])
        }
        defer { server.stop() }
        if isStreamed {
            let response = try PluginSide().stream("HEAD", server.url("/old"))
            #expect(await response.next()?.code == 200)
            #expect(await response.part()?.isDone == true)
        } else {
            #expect(await PluginSide().request("HEAD", server.url("/old")).code == 200)
        }
        #expect(server.connectionCount == 1)
    }

    @Test func `blanks around the target of a redirect are no part of it`() async {
        let server = LoopbackServer {
            $0.line.contains("/old") ? .response(302, [("Location", " \t/new \t ")]) : .response(200)
        }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url("/old")).code == 200)
        #expect(server.requests.last?.line == "GET /new HTTP/1.1")
    }

    @Test(arguments: [
        ("http://127.0.0.1:99999/x", "http://127.0.0.1:99999, whose host or port is invalid"),
        ("http://ada:word@b\u{FC}cher.test/", "http://b%C3%BCcher.test, whose host or port is invalid"),
        ("http://[fe80::1%25lo]:1/", "http://[fe80::1%25lo]:1, whose host or port is invalid"),
        ("/" + String(repeating: "a", count: 9000), "a URL of more than 8192 bytes"),
        ("\\\\evil.test\\x", "a URL with a backslash"),
        ("javascript:alert(1)", "something that is not an http or https URL"),
    ])
    func `a redirect that cannot be followed names the server, and what is wrong with the target`(
        location: String,
        words: String
    ) async {
        let server = LoopbackServer { _ in .response(302, [("Location", location)]) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url())
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.message.hasPrefix("the server 127.0.0.1:\(server.port) redirects to \(words)"), "\(end.message)")
    }

    @Test func `the target of a redirect is not shown if it may repeat a secret`() async {
        let server = LoopbackServer { _ in .response(302, [("Location", "http://s3cr3t:99999/")]) }
        defer { server.stop() }
        let end = await PluginSide().request("GET", server.url("/{{secret:key}}"))
        #expect(end.status == CONNECTOR_PROTOCOL)
        #expect(end.message.contains("redirects to a URL, whose host or port is invalid"), "\(end.message)")
    }

    @Test(arguments: ["javascript:alert(1)", "file:///etc/passwd", "http://", "http://exa mple/"])
    func `a redirect out of HTTP breaks the protocol`(location: String) async {
        let server = LoopbackServer { _ in .response(302, [("Location", location)]) }
        defer { server.stop() }
        #expect(await PluginSide(egress: ["*"]).request("GET", server.url()).status == CONNECTOR_PROTOCOL)
    }

    @Test(arguments: ["http://a.example/", "http://b.example/", "HTTP://a.example:443/x"])
    func `a redirect from https to http breaks the protocol`(location: String) throws {
        let url = try #require(URLParts("https://a.example/"))
        let request = OutgoingRequest(method: "POST", url: url, headers: [:], body: [1])
        let failure = #expect(throws: ServiceFailure.self) {
            _ = try request.redirected(status: 307, to: location)
        }
        #expect(failure?.status == CONNECTOR_PROTOCOL)
        #expect(failure?.message.contains("from https to http") == true)
        let secure = try request.redirected(status: 307, to: "//b.example/")
        #expect(secure.url.scheme == "https")
    }

    @Test func `a redirect without a location is an ordinary response`() async {
        let server = LoopbackServer { _ in .response(302) }
        defer { server.stop() }
        #expect(await PluginSide().request("GET", server.url()).code == 302)
    }

    @Test(arguments: [
        ("http://a.example/b/c?d#e", "http://a.example/x/y?q", "http://a.example/b/c?d"),
        ("/b c", "http://a.example/x/y?q", "http://a.example/b%20c"),
        ("b", "http://a.example:81/x/y?q", "http://a.example:81/x/b"),
        ("?z", "http://a.example/x/y?q", "http://a.example/x/y?z"),
        ("#f", "http://a.example/x/y?q", "http://a.example/x/y?q"),
        ("//b.example/c", "https://a.example/x", "https://b.example/c"),
        ("https://user:word@b.example", "http://a.example/", "https://b.example/"),
        ("b:c", "http://a.example/x", nil),
        ("c", "http://[::1]:8080", "http://[::1]:8080/c"),
        ("/wiki/Z\u{fc}rich?\u{e9}", "http://a.example/x", "http://a.example/wiki/Z%C3%BCrich?%C3%A9"),
        ("http://z\u{fc}rich.example/", "http://a.example/x", nil),
        ("/\u{301}/z", "http://a.example/x/y", "http://a.example/%CC%81/z"),
        ("//\u{301}b.example/", "http://a.example/x", nil),
        ("../v2/x", "http://a.example/v1/a/b", "http://a.example/v1/v2/x"),
        ("./../../g/.?x=/../y", "http://a.example/b/c/d/e", "http://a.example/b/g/?x=/../y"),
        ("/../a/./b/..", "http://a.example/x", "http://a.example/a/"),
        ("http://b.example/a//../.b/...", "http://a.example/x", "http://b.example/a/.b/..."),
        ("/a%20b%zz?c=%FF", "http://a.example/x", "http://a.example/a%20b%25zz?c=%FF"),
        ("/a/%FF", "http://a.example/x", nil), ("/o\tk", "http://a.example/x", "http://a.example/o%09k"),
    ])
    func `a reference is resolved against the URL it came from`(reference: String, base: String, expected: String?)
        throws
    {
        let url = try #require(URLParts(base))
        #expect((try? HTTPTarget.redirect(reference, from: url).description) == expected)
    }
}
