// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Testing

@testable import ConnectorConsoleWeb

/// Which names and pages the console takes for its own, and what pages of other origins get.
@Suite(
    .timeLimit(.minutes(2)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct OriginTests {
    @Test func `a request for another host is refused, even with a valid session`() async throws {
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
    func `the server answers to each of its names with any port`(host: String) async throws {
        let console = try await ServedConsole(ServedConsole.host()) { $0.names = ["Ops.example.org"] }
        #expect(try await console.ask("GET", "/gates", host: host, ["Cookie": console.enter()]).status == 200)
        await console.stop()
    }

    @Test(arguments: [
        ("localhost:9000", "http://localhost:9000"), ("[::1]:9000", "http://[::1]:9000"),
        ("127.0.0.1", "http://127.0.0.1"), ("Ops.example.org", "https://ops.example.org"),
        ("ops.example.org:8443", "https://ops.example.org:8443"),
    ])
    func `the console's own pages may act behind a tunnel, a container or a proxy`(host: String, origin: String)
        async throws
    {
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

    @Test func `a page without TLS is foreign to a server with TLS`() {
        let origins = Origins(.loopback, names: [], isSecure: true)
        #expect(origins.isOwn("https://localhost:9000", host: "localhost:9000"))
        #expect(!origins.isOwn("http://localhost:9000", host: "localhost:9000"))
        #expect(!origins.isOwn("https://evil.example", host: "evil.example"))
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
}
