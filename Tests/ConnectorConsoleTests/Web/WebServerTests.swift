// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorControl
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
    func `only a page uses up a link`(path: String) async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let bearer = ["Authorization": "BEARER \(console.token)"]
        #expect(try await console.ask("GET", "\(path)?token=\(console.token)", bearer).status == 200)
        #expect(console.announced.count == 1, "the link is not used")
        await console.stop()
    }

    @Test func `every answer forbids what our pages do not need`() async throws {
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

    @Test func `whoever may only read may not act`() async throws {
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

    @Test func `an invalid form is shown again with its errors`() async throws {
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

    @Test func `calls and their outcomes are shown only to those who may call`() async throws {
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

    @Test func `whoever may only read may not act through the API either`() async throws {
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
        let announced = ["Content-Length": "65537", "Content-Type": "application/x-www-form-urlencoded"]
        let refused = try await console.ask("POST", "/-/act", fields.merging(announced) { $1 })
        #expect(refused.status == 413 && refused.contains("the body is larger than 64 KiB"))
        let header = try await console.ask("GET", "/gates", ["X": String(repeating: "x", count: 1 << 17)])
        #expect([0, 400, 431].contains(header.status))
        #expect(try await console.ask("GET", "/gates", fields).status == 200)
        await console.stop()
    }

    @Test func `silent connections and half-sent requests keep nobody out`() async throws {
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

    @Test func `a client that does not finish its request is disconnected`() async throws {
        var limits = ServerLimits()
        limits.timeout = .milliseconds(50)
        let console = try await ServedConsole(ServedConsole.host(), limits: limits)
        #expect(try await RawConnection(port: console.port).isClosed())
        let half = "POST /-/enter HTTP/1.1\r\nHost: \(console.authority)\r\nContent-Length: 9\r\n\r\ntok"
        #expect(try await RawConnection(port: console.port).send(half).isEmpty)
        await console.stop()
    }

    @Test func `a stream sends what changed, and nothing else`() async throws {
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

    @Test func `a stream without changes brings events that the page's script sees`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let session = try await console.enter()
        let page = try await console.ask("GET", "/plugins", ["Cookie": session])
        let version = try #require(page.firstMatch(of: #/data-version="([^"]*)"/#)).1
        let request =
            "GET /-/live?at=%2Fplugins&version=\(version) HTTP/1.1\r\nHost: \(console.authority)\r\nCookie: \(session)\r\n\r\n"
        let read = try await RawConnection(port: console.port).send(request, until: "event: alive\ndata: .\n\n")
        #expect(read.status == 200 && read.contains("event: alive\ndata: .\n\n"))
        await console.stop()
    }

    @Test func `a page beyond the most that are watched is told why it does not update`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let bearer = ["Authorization": "Bearer \(console.token)"]
        let pages = console.server.pages
        var watches: [(changes: AsyncStream<Void>, number: Int)] = []
        for _ in 0..<LivePages.watcherLimit {
            watches.append(try #require(await pages.watch(PageAddress(.plugins), as: .act)))
        }
        let refused = try await console.ask("GET", "/-/live?at=%2Fplugins", bearer)
        #expect(refused.status == 503 && refused.contains("this page does not update: 256 others are open"))
        for watch in watches { await pages.unwatch(PageAddress(.plugins), as: .act, watch.number) }
        await console.stop()
    }

    @Test func `the API says the same of its methods as on its socket`() async throws {
        let console = try await ServedConsole(ServedConsole.host())
        let bearer = ["Authorization": "Bearer \(console.token)"]
        for (method, status) in [("OPTIONS", 204), ("POST", 405), ("PUT", 405), ("DELETE", 405)] {
            let answer = try await console.ask(method, "/api/v1/status", bearer)
            #expect(answer.status == status && answer.field("allow") == "GET, HEAD, OPTIONS", "\(method): \(answer)")
            #expect(try await console.ask(method, "/api/v1/status").status == 401, "\(method)")
        }
        for method in ["OPTIONS", "PUT"] {
            let answer = try await console.ask(method, "/gates", bearer)
            #expect(answer.status == 405 && answer.field("allow") == "GET, HEAD, POST", "\(method): \(answer)")
        }
        let foreign = bearer.merging(["Origin": "http://elsewhere.example"]) { $1 }
        #expect(try await console.ask("OPTIONS", "/api/v1/status", foreign).status == 403)
        await console.stop()
    }

    @Test func `the API asks for the same credentials`() async throws {
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
}
