// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorServices
import ConnectorTestSupport
import NIOCore
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHTTPServer
@testable import ConnectorHost

/// The console over real connections: who gets in, and what attackers get.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct WebServerTests {
    @Test func `the link lets one browser in, once, and another link takes its place`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        #expect(try await console.ask("GET", "/gates").status == 401)
        let old = console.token
        #expect(try await console.ask("HEAD", "/?token=\(old)").status == 401, "a look ahead does not use the link")
        let entered = try await console.ask("GET", "/gates?token=\(old)")
        #expect(entered.status == 303 && entered.field("location") == "/gates", "the token is not in the URL any more")
        let cookie = try #require(entered.field("set-cookie"))
        for part in ["HttpOnly", "SameSite=Strict", "Path=/"] { #expect(cookie.contains(part)) }
        #expect(!cookie.contains("Domain") && !cookie.contains(old))
        let session = String(cookie.prefix { $0 != ";" })
        let page = try await console.ask("GET", "/gates", ["Cookie": session])
        #expect(page.status == 200 && page.contains("<h1>Gates</h1>"))
        let others = "a=b;console-\(console.port)=of-another-path; \(session)"
        #expect(try await console.ask("GET", "/gates", ["Cookie": others]).status == 200)
        let replayed = try await console.ask("GET", "/?token=\(old)", ["Accept": "text/html"])
        #expect(replayed.status == 403 && replayed.field("set-cookie") == nil)
        #expect(console.announced.count == 2 && console.token != old)
        #expect(try await console.ask("GET", "/?token=\(console.token)").status == 303, "a second browser")
        #expect(try await console.ask("GET", "/gates", ["Cookie": "\(session)x"]).status == 401)
        await console.stop()
    }

    @Test func `the link lets a browser in from a page of another site, too`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let elsewhere = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
        let entered = try await console.ask("GET", "/gates?token=\(console.token)", elsewhere)
        #expect(entered.status == 200, "a browser would follow a redirection without the cookie")
        #expect(entered.contains("<meta http-equiv=\"refresh\" content=\"0;url=/gates\">"))
        let session = String(entered.field("set-cookie")?.prefix { $0 != ";" } ?? "")
        #expect(try await console.ask("GET", "/gates", ["Cookie": session]).status == 200)
        await console.stop()
    }

    @Test(arguments: ["/api/v1/status", "/metrics", "/-/console.css"])
    func `only pages have links`(path: String) async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let bearer = ["Authorization": "BEARER \(console.token)"]
        #expect(try await console.ask("GET", "\(path)?token=\(console.token)", bearer).status == 200)
        #expect(console.announced.count == 1, "the link is not used")
        await console.stop()
    }

    @Test func `every answer forbids what a page of ours does not need`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        for target in ["/gates", "/-/console.js", "/livez", "/nowhere"] {
            let answer = try await console.ask("GET", target)
            let policy = try #require(answer.field("content-security-policy"))
            #expect(policy.hasPrefix("default-src 'none'") && !policy.contains("unsafe"))
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
            #expect(answer.field("x-frame-options") == "DENY")
            #expect(answer.field("x-content-type-options") == "nosniff")
            #expect(answer.field("referrer-policy") == "no-referrer")
            #expect(answer.field("cache-control") == "no-store")
            #expect(answer.field("access-control-allow-origin") == nil)
        }
        await console.stop()
    }

    @Test func `another Host is refused, whatever it knows`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let session = try await console.enter()
        for host in [
            "evil.example", "evil.example:\(console.port)", "127.0.0.1.evil.example", "a@127.0.0.1", "127.0.0.1:",
            "127.0.0.1:x", "127.0.0.1:080", "127.0.0.1:65536", "127.0.0.1/", "::1", "[::1", "[::1]x", "[127.0.0.1]", "",
        ] {
            let answer = try await console.ask("GET", "/gates", host: host, ["Cookie": session])
            #expect(answer.status == 421 || answer.status == 400, "\(host)")
        }
        await console.stop()
    }

    @Test(arguments: [
        "localhost", "LOCALHOST:9000", "127.0.0.1", "127.0.0.1:1", "[::1]", "[::1]:9000", "ops.example.org",
    ])
    func `a name of the server is one with any port`(host: String) async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["Ops.example.org"] }
        #expect(try await console.ask("GET", "/gates", host: host, ["Cookie": console.enter()]).status == 200)
        await console.stop()
    }

    @Test(arguments: [
        ("localhost:9000", "http://localhost:9000"), ("[::1]:9000", "http://[::1]:9000"),
        ("127.0.0.1", "http://127.0.0.1"), ("Ops.example.org", "https://ops.example.org"),
        ("ops.example.org:8443", "https://ops.example.org:8443"),
    ])
    func `its own pages may act behind a tunnel, a container and a proxy`(host: String, origin: String) async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["ops.example.org"] }
        let fields = ["Cookie": try await console.enter(), "Origin": origin]
        let body = "at=%2Fgates&act=none"
        #expect(try await console.ask("POST", "/-/act", host: host, fields, body: body).status == 409)
        await console.stop()
    }

    @Test(arguments: [
        ("localhost:9000", "http://localhost:9001"), ("127.0.0.1:80", "http://localhost:80"),
        ("localhost", "http://[::1]"), ("ops.example.org", "https://ops.example.org:8443"),
        ("ops.example.org", "https://ops.example.org.evil.example"),
        ("ops.example.org", "https://a@ops.example.org"), ("ops.example.org", "ws://ops.example.org"),
        ("ops.example.org", "ops.example.org"),
    ])
    func `a page of another port or name of the same machine is foreign`(host: String, origin: String) async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["ops.example.org"] }
        let fields = ["Cookie": try await console.enter(), "Origin": origin]
        let body = "at=%2Fgates&act=none"
        #expect(try await console.ask("POST", "/-/act", host: host, fields, body: body).status == 403)
        await console.stop()
    }

    @Test func `a page without TLS is foreign to a server with it`() {
        let origins = Origins(.loopback, names: [], isSecure: true)
        #expect(origins.isOwn("https://localhost:9000", host: "localhost:9000"))
        #expect(!origins.isOwn("http://localhost:9000", host: "localhost:9000"))
        #expect(!origins.isOwn("https://evil.example", host: "evil.example"))
    }

    @Test func `the link has an IPv6 address in brackets`() async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["2001:db8::1"] }
        #expect(console.announced.first?.hasPrefix("http://[2001:db8::1]:\(console.port)/?token=") == true)
        await console.stop()
    }

    @Test func `a page of another site can neither act, nor listen, nor read`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let session = try await console.enter()
        let own = "http://\(console.authority)"
        let foreign: [[String: String]] = [
            ["Origin": "http://evil.example"], ["Origin": "null"], ["Origin": "http://localhost:\(console.port)"],
            ["Origin": "http://127.0.0.1:1"], ["Sec-Fetch-Site": "cross-site"], ["Sec-Fetch-Site": "same-site"],
            ["Origin": own, "Sec-Fetch-Site": "cross-site"],
        ]
        for fields in foreign {
            let fields = fields.merging(["Cookie": session]) { $1 }
            let body = "at=%2Fgates&act=retry+gate+a"
            #expect(try await console.ask("POST", "/-/act", fields, body: body).status == 403, "\(fields)")
            #expect(try await console.ask("GET", "/-/live?at=%2Fgates", fields).status == 403, "\(fields)")
            #expect(try await console.ask("GET", "/api/v1/status", fields).status == 403, "\(fields)")
        }
        let noOrigin = try await console.ask("POST", "/-/act", ["Cookie": session], body: "at=%2Fgates&act=x")
        #expect(noOrigin.status == 403, "a browser says where a form comes from")
        for fields in [
            ["Origin": own], ["Origin": own, "Sec-Fetch-Site": "same-origin"],
            ["Origin": "null", "Sec-Fetch-Site": "same-origin"],
        ] {
            let fields = fields.merging(["Cookie": session]) { $1 }
            let posted = try await console.ask("POST", "/-/act", fields, body: "at=%2Fgates&act=none")
            #expect(posted.status == 409, "a page of ours may, if it offers it: \(fields)")
        }
        let link = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"]
        #expect(try await console.ask("GET", "/", link).status == 401, "a link elsewhere may lead here")
        let frame = ["Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"]
        #expect(try await console.ask("GET", "/", frame).status == 403)
        await console.stop()
    }

    @Test func `who may read may not act`() async throws {
        let console = try await ServedConsole(ServedConsole.host()) { options in
            options.token = Secret("a token of those who may act")
            options.readToken = Secret("a token of those who may read")
        }
        func act(_ token: String) async throws -> String {
            let fields = ["Authorization": "Bearer \(token)"]
            return try await console.ask("POST", "/-/act", fields, body: "at=%2Fgates%2Fa&act=open+gate+a")
        }
        #expect(try await act("a token of those who may read").status == 403)
        #expect(try await act("a token of those who may act").status == 200)
        #expect(try await act("a token of those who may acT").status == 401)
        let page = try await console.ask("GET", "/gates/a", ["Authorization": "Bearer a token of those who may read"])
        #expect(page.status == 200 && !page.contains("<button form") && page.contains("read only"))
        // The form of the page takes a token, too.
        let form = ["Origin": "http://\(console.authority)"]
        let entered = try await console.ask("POST", "/-/enter", form, body: "token=a+token+of+those+who+may+read")
        let session = String(entered.field("set-cookie")?.prefix { $0 != ";" } ?? "")
        let fields = form.merging(["Cookie": session]) { $1 }
        #expect(try await console.ask("POST", "/-/act", fields, body: "at=%2Fgates%2Fa&act=open+gate+a").status == 403)
        #expect(try await console.ask("POST", "/-/enter", form, body: "token=wrong").status == 403)
        await console.stop()
        let closed = try await ServedConsole(ServedConsole.host()) { $0.isReadOnly = true }
        let reader = ["Cookie": try await closed.enter(), "Origin": "http://\(closed.authority)"]
        #expect(try await closed.ask("POST", "/-/act", reader, body: "at=%2Fgates%2Fa&act=open+gate+a").status == 403)
        await closed.stop()
    }

    @Test func `an act is done only if the page offers it, and asks before something is lost`() async throws {
        let host = try ServedConsole.host()
        await host.open()
        let console = try await ServedConsole(host)
        let fields = [
            "Cookie": try await console.enter(), "Origin": "http://\(console.authority)", "Accept": "text/html",
        ]
        func act(_ key: String, _ more: String = "") async throws -> String {
            try await console.ask("POST", "/-/act", fields, body: "at=%2Fgates%2Fa&act=\(key)\(more)")
        }
        #expect(try await act("drop+letters").status == 409)
        let asked = try await act("close+gate+a")
        #expect(asked.status == 200 && asked.contains("Its calls fail until it is opened again"))
        #expect(host.report["a"]?.target == .open, "nothing is done yet")
        let script = fields.merging(["Accept": "text/plain"]) { $1 }
        let question = try await console.ask("POST", "/-/act", script, body: "at=%2Fgates%2Fa&act=close+gate+a")
        #expect(question.status == 428 && question.contains("\"question\":"))
        let done = try await act("close+gate+a", "&confirmed=yes")
        #expect(done.status == 303 && done.field("location") == "/gates/a")
        #expect(host.report["a"]?.target == .closed)
        let page = try await console.ask("GET", "/gates/a", fields)
        #expect(page.contains("<p class=\"message\">a is closed</p>"))
        #expect(try await !console.ask("GET", "/gates/a", fields).contains("class=\"message\""), "told once")
        await console.stop()
        await host.close()
    }

    @Test func `a form that is not right is shown again, with what is wrong`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let fields = ["Cookie": try await console.enter(), "Origin": "http://\(console.authority)"]
        let body = "at=%2Fgates%2Fa%2Foperations%2Ftrack"
        let script = try await console.ask("POST", "/-/call", fields, body: body)
        #expect(script.status == 422 && script.contains("\"fields\":"))
        let page = try await console.ask("POST", "/-/call", fields.merging(["Accept": "text/html"]) { $1 }, body: body)
        #expect(page.status == 422 && page.contains("aria-invalid=\"true\""))
        #expect(try await console.ask("POST", "/-/call", fields, body: "at=%2Fgates").status == 409)
        await console.stop()
    }

    @Test func `what was called, and what came of it, is for those who may call`() async throws {
        let console = try await ServedConsole(ServedConsole.host()) { options in
            options.token = Secret("a token of those who may act")
            options.readToken = Secret("a token of those who may read")
        }
        func ask(_ method: String, _ target: String, as token: String, body: String = "") async throws -> String {
            try await console.ask(method, target, ["Authorization": "Bearer \(token)"], body: body)
        }
        let body = "at=%2Fgates%2Fa%2Foperations%2Fdeliver&f.events=%5B%22of+a+customer%22%5D"
        let called = try await ask("POST", "/-/call", as: "a token of those who may act", body: body)
        #expect(called.status == 503 && called.hasSuffix("[not-open]"), "its status says that it failed: \(called)")
        let page = "/gates/a/operations/deliver"
        #expect(try await ask("GET", page, as: "a token of those who may act").contains("of a customer"))
        let read = try await ask("GET", page, as: "a token of those who may read")
        #expect(read.status == 200 && !read.contains("of a customer") && !read.contains("Last call"))
        let live =
            "GET /-/live?at=\(page) HTTP/1.1\r\nHost: \(console.authority)\r\n"
            + "Authorization: Bearer a token of those who may read\r\n\r\n"
        let streamed = try await RawConnection(port: console.port).send(live, until: "]\n\n")
        #expect(streamed.contains("deliver") && !streamed.contains("of a customer"))
        await console.stop()
    }

    @Test func `who may read may not act through the API either`() async throws {
        let console = try await ServedConsole(ServedConsole.host()) { options in
            options.readToken = Secret("a token of those who may read")
        }
        let reader = ["Authorization": "Bearer a token of those who may read"]
        let document = try await console.ask("GET", "/api/v1/openapi.json", reader)
        let acting = document.matches(of: #/"(\/api\/v1\/[a-z\/]+)":\{"post"/#).map { String($0.1) }
        #expect(!acting.isEmpty)
        for path in acting {
            #expect(try await console.ask("POST", path, reader, body: "{}").status == 403, "\(path)")
        }
        // It shows values of "config".
        #expect(try await console.ask("GET", "/api/v1/plan", reader).status == 403)
        await console.stop()
    }

    @Test func `huge bodies and headers end the connection`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let fields = ["Cookie": try await console.enter(), "Origin": "http://\(console.authority)"]
        let body = "at=%2Fgates&act=" + String(repeating: "x", count: 1 << 20)
        let answer = try await console.ask("POST", "/-/act", fields, body: body)
        #expect(answer.isEmpty || answer.status == 413, "a reset may be faster than the answer")
        let header = try await console.ask("GET", "/gates", ["X": String(repeating: "x", count: 1 << 17)])
        #expect([0, 400, 431].contains(header.status))
        #expect(try await console.ask("GET", "/gates", fields).status == 200)
        await console.stop()
    }

    @Test func `connections that say nothing, or half of something, keep nobody out`() async throws {
        var limits = ServerLimits()
        limits.connections = 16
        let console = try await ServedConsole(ServedConsole.host(), limits: limits)
        let session = try await console.enter()
        try await withThrowingTaskGroup { group in
            for index in 0..<200 {
                let connection = try await RawConnection(port: console.port)
                let half = index.isMultiple(of: 2) ? "" : "GET /gates HTTP/1.1\r\nHost: \(console.authority)\r\n"
                group.addTask { _ = try await connection.send(half) }
            }
            #expect(try await console.ask("GET", "/gates", ["Cookie": session]).status == 200)
            #expect((console.server.table?.count ?? .max) <= 16)
            await console.stop()
            try await group.waitForAll()
        }
    }

    @Test func `a client that does not finish its request is let go`() async throws {
        var limits = ServerLimits()
        limits.timeout = .milliseconds(50)
        let console = try await ServedConsole(ServedConsole.host(), limits: limits)
        #expect(try await RawConnection(port: console.port).isClosed())
        let half = "POST /-/enter HTTP/1.1\r\nHost: \(console.authority)\r\nContent-Length: 9\r\n\r\ntok"
        #expect(try await RawConnection(port: console.port).send(half).isEmpty)
        await console.stop()
    }

    @Test func `what changes is sent, and nothing else`() async throws {
        let host = try ServedConsole.host()
        await host.open()
        let console = try await ServedConsole(host)
        let session = try await console.enter()
        let page = try await console.ask("GET", "/gates", ["Cookie": session])
        let version = try #require(page.firstMatch(of: #/data-version="([^"]*)"/#)).1
        async let events = RawConnection(port: console.port).send(
            "GET /-/live?at=%2Fgates&version=\(version) HTTP/1.1\r\nHost: \(console.authority)\r\nCookie: \(session)\r\n\r\n",
            until: "a is closed"
        )
        try await host.close("a")
        let read = try await events
        #expect(read.field("content-type") == "text/event-stream")
        #expect(read.contains("[\"columns\",1,"), "the column of proofs is empty now, so it goes out of sight")
        #expect(!read.contains("[\"replace\",\"c1\","), "not the whole table")
        #expect(!read.contains("<h1>") && !read.contains("[\"fill\",\"scene\","), "not the whole page")
        await console.stop()
        await host.close()
    }

    @Test func `the API is served with the same rights`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        #expect(try await console.ask("GET", "/livez").status == 200)
        for path in ["/readyz", "/metrics", "/api/v1/status", "/api/v1/openapi.json"] {
            #expect(try await console.ask("GET", path).status == 401, "\(path)")
            let bearer = ["Authorization": "Bearer \(console.token)"]
            #expect([200, 503].contains(try await console.ask("GET", path, bearer).status), "\(path)")
        }
        let old = console.token
        _ = try await console.enter()
        #expect(try await console.ask("GET", "/metrics", ["Authorization": "Bearer \(old)"]).status == 401)
        await console.stop()
    }

    @Test func `others reach it only with TLS, a token and a name`() throws {
        func failure(_ change: (inout WebConsole.Options) -> Void) -> ConnectorError? {
            var options = WebConsole.Options()
            options.address = WebConsole.Address(host: "0.0.0.0", port: 0)
            change(&options)
            do throws(ConnectorError) {
                let host = try? ServedConsole.host()
                _ = try host.map { host throws(ConnectorError) in
                    try WebServer(HostConsoleModel(host), host, options) { _ in }
                }
                return nil
            } catch {
                return error
            }
        }
        #expect(failure { _ in }?.code == .invalidValue)
        #expect(failure { $0.token = Secret("long enough to be one") }?.code == .invalidValue)
        #expect(failure { $0.certificate = WebConsole.Certificate(file: "/none", key: "/none") }?.code == .invalidValue)
        let isClose = failure { options in
            options.token = Secret("long enough to be one")
            options.certificate = WebConsole.Certificate(file: "/none", key: "/none")
            options.names = ["console.example.org"]
        }
        #expect(isClose?.code == .unreadable, "everything but the files is there")
        #expect(failure { ($0.address, $0.token) = (.loopback, Secret("short")) }?.code == .invalidValue)
    }

    @Test(arguments: [
        "console.example.org:18932", "https://console.example.org", "console.example.org/", "a@b", "[::1]", "beef:80",
        "",
        "\u{212A}iel.example.org",
    ])
    func `what is not a host alone cannot be a name`(name: String) {
        var options = WebConsole.Options()
        options.names = [name]
        let error = #expect(throws: ConnectorError.self) { try options.check() }
        #expect(error?.code == .invalidValue)
    }

    @Test(arguments: ["console.example.org", "Console", "192.0.2.1", "2001:DB8::1"])
    func `a host name or an address can be a name`(name: String) {
        var options = WebConsole.Options()
        options.names = [name]
        #expect(throws: Never.self) { try options.check() }
    }

    @Test(arguments: [
        ("8901", "127.0.0.1", 8901), ("[::1]:80", "::1", 80), ("localhost:0", "localhost", 0),
        ("10.0.0.1:1", "10.0.0.1", 1),
    ])
    func `addresses are read`(_ text: String, _ host: String, _ port: Int) {
        #expect(WebConsole.Address(text) == WebConsole.Address(host: host, port: port))
    }

    @Test(arguments: [
        "", ":80", "host", "host:", "::1:80", "host:65536", "host:-1", "127.0.0.1:x", "+8901", "-0", "host:+1",
    ])
    func `what is not an address is none`(_ text: String) {
        #expect(WebConsole.Address(text) == nil)
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.1.2.3", true), ("localhost", true), ("::1", true), ("127.+0.0.1", false),
        ("127.0.0", false), ("127.0.0.256", false), ("128.0.0.1", false), ("127..0.1", false),
    ])
    func `a loopback address is four numbers, the first 127`(host: String, isLoopback: Bool) {
        #expect(WebConsole.Address(host: host, port: 0).isLoopback == isLoopback)
    }
}
