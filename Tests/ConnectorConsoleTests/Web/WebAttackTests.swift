// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorServices
import ConnectorTestSupport
import Testing

@testable import ConnectorConsole
@testable import ConnectorConsoleWeb
@testable import ConnectorHTTPServer
@testable import ConnectorHost

/// What strangers, pages of other sites and those who guess can do to the console, and what they cannot take from others.
@Suite(
    .timeLimit(.minutes(3)),
    .enabled(if: !Sanitizer.isPresent, "the adapters' images are not built for a sanitizer")
)
struct WebAttackTests {
    private static let token = "a token of those who may act"

    /// A console whose clock stands still, so that what was counted stays counted.
    private func console(_ change: (inout WebConsole.Options) -> Void = { _ in }) async throws -> ServedConsole {
        let clock = ManualHostClock()
        return try await ServedConsole(
            ServedConsole.host(),
            { options in
                options.token = Secret(Self.token)
                change(&options)
            },
            clock: clock
        )
    }

    // MARK: Rates

    @Test func `pages of other sites and strangers use up no request of those who have entered`() async throws {
        let console = try await console()
        let session = try await console.enter()
        for _ in 0..<610 {
            #expect(try await console.ask("GET", "/", ["Origin": "http://evil.example"]).status == 403)
        }
        var refused = 0
        for _ in 0..<650 where try await console.ask("GET", "/gates").status == 429 { refused += 1 }
        #expect(refused == 50, "strangers are counted")
        let bearer = ["Authorization": "Bearer \(Self.token)"]
        #expect(try await console.ask("GET", "/livez").status == 200)
        #expect([200, 503].contains(try await console.ask("GET", "/readyz", bearer).status))
        #expect(try await console.ask("GET", "/gates", ["Cookie": session]).status == 200)
        #expect(try await console.ask("GET", "/-/console.css", ["Cookie": session]).status == 200)
        await console.stop()
    }

    @Test func `health is answered at any rate of requests`() async throws {
        let console = try await console()
        let bearer = ["Authorization": "Bearer \(Self.token)"]
        for _ in 0..<650 {
            #expect(try await console.ask("GET", "/livez").status == 200)
            #expect([200, 503].contains(try await console.ask("GET", "/readyz", bearer).status))
        }
        await console.stop()
    }

    /// A way to give a token.
    private struct Guess: Sendable, CustomTestStringConvertible {
        var name: String
        var ask: @Sendable (ServedConsole, String) async throws -> Int
        var testDescription: String { name }
    }

    private static let ways = [
        Guess(name: "bearer") { console, token in
            try await console.ask("GET", "/gates", ["Authorization": "Bearer \(token)"]).status
        },
        Guess(name: "basic") { console, token in
            try await console.ask("GET", "/gates", ["Authorization": "Basic \(token)"]).status
        },
        Guess(name: "cookie") { console, token in
            try await console.ask("GET", "/gates", ["Cookie": "console-\(console.port)=\(token)"]).status
        },
        Guess(name: "link") { console, token in try await console.ask("GET", "/?token=\(token)").status },
        Guess(name: "form") { console, token in
            let form = ["Origin": "http://\(console.authority)"]
            return try await console.ask("POST", "/-/enter", form, body: "token=\(token)").status
        },
    ]

    @Test(arguments: ways)
    private func `each way of guessing is slowed down, and a valid credential always gets in`(way: Guess) async throws {
        let console = try await console()
        let session = try await console.enter()
        var statuses: [Int] = []
        for number in 0..<60 { statuses.append(try await way.ask(console, "wrong\(number)")) }
        #expect(statuses.prefix(20).allSatisfy { [401, 403].contains($0) }, "\(statuses)")
        #expect(statuses.contains(429), "\(statuses)")
        #expect(try await console.ask("GET", "/gates", ["Authorization": "Bearer \(Self.token)"]).status == 200)
        #expect(try await console.ask("GET", "/gates", ["Cookie": session]).status == 200)
        #expect(try await console.ask("GET", "/?token=\(console.token)").status == 303)
        let form = ["Origin": "http://\(console.authority)"]
        let typed = Self.token.replacing(" ", with: "+")
        #expect(try await console.ask("POST", "/-/enter", form, body: "token=\(typed)").status == 303)
        await console.stop()
    }

    @Test func `a client that guesses in one way, or from one address, does not slow down others`() {
        let limit = RateLimit(perSecond: 1, burst: 20)
        for _ in 0..<100 { _ = limit.take("bearer 10.0.0.1", at: 1) }
        #expect(!limit.take("bearer 10.0.0.1", at: 1))
        #expect(limit.take("cookie 10.0.0.1", at: 1) && limit.take("bearer 10.0.0.2", at: 1))
        #expect(limit.take("bearer 10.0.0.1", at: 1_000_000_001), "one a second")
        #expect(!limit.take("bearer 10.0.0.1", at: 1_000_000_001))
    }

    @Test func `the number of guessing clients that are remembered is bounded`() {
        let limit = RateLimit(perSecond: 1, burst: 2)
        let admitted = (0..<100_000).count { limit.take("\($0)", at: UInt64($0)) }
        #expect(admitted == RateLimit.clientLimit + 2, "further ones share a bucket")
        #expect(!limit.take("another", at: 100_000))
        for client in ["another", "one more"] {
            for _ in 0..<2 { #expect(limit.take(client, at: 10_000_000_000), "those that are quiet are forgotten") }
        }
    }

    // MARK: Streams

    private func listen(_ console: ServedConsole, _ target: String, _ fields: String) throws -> RawSocket.Box {
        let socket = RawSocket.Box(try RawSocket(port: console.port))
        socket.value.send("GET \(target) HTTP/1.1\r\nHost: \(console.authority)\r\n\(fields)\r\n\r\n".utf8)
        return socket
    }

    /// Reads, away from the threads that the server needs.
    private func read(_ socket: RawSocket.Box, until end: String) async -> String {
        await Task.detached { socket.value.read(until: end) }.value
    }

    @Test(arguments: ["/-/live?at=%2Fgates", "/api/v1/events"])
    func `a stream ends when its reader leaves`(target: String) async throws {
        let console = try await console()
        let session = try await console.enter()
        let other = try await console.enter()
        let stream = try listen(console, target, "Cookie: \(session)")
        let kept = try listen(console, target, "Cookie: \(other)")
        _ = await read(stream, until: "\r\n\r\n")
        _ = await read(kept, until: "\r\n\r\n")
        let form = ["Cookie": session, "Origin": "http://\(console.authority)"]
        #expect(try await console.ask("POST", "/-/leave", form).status == 303)
        #expect(await read(stream, until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"), "the last chunk")
        #expect(try await console.ask("GET", target, ["Cookie": session]).status == 401)
        while console.authenticator.leaseCount != 1 { try await Task.checkedYield() }
        _ = kept
        await console.stop()
    }

    @Test func `a stream ends when its session is evicted, or its link is used`() async throws {
        let console = try await console()
        let session = try await console.enter()
        let stream = try listen(console, "/api/v1/events", "Cookie: \(session)")
        let linked = try listen(console, "/api/v1/events", "Authorization: Bearer \(console.token)")
        _ = await read(stream, until: "\r\n\r\n")
        _ = await read(linked, until: "\r\n\r\n")
        while console.authenticator.leaseCount != 2 { try await Task.checkedYield() }
        _ = try await console.enter()
        #expect(await read(linked, until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
        for _ in 0..<64 { _ = try await console.enter() }
        #expect(await read(stream, until: "0\r\n\r\n").hasSuffix("0\r\n\r\n"))
        await console.stop()
    }

    @Test(arguments: ["/-/live?at=%2Fgates", "/api/v1/events"])
    func `HEAD on a stream answers without a body, and begins no stream`(target: String) async throws {
        let console = try await console()
        let answer = try await console.ask("HEAD", target, ["Authorization": "Bearer \(Self.token)"])
        #expect(answer.status == 200 && answer.field("content-type") == "text/event-stream")
        #expect(answer.hasSuffix("\r\n\r\n"))
        #expect(console.authenticator.leaseCount == 0)
        await console.stop()
    }

    // MARK: Requests

    @Test func `a request with two Host fields is refused, whichever comes first`() async throws {
        let console = try await console()
        for hosts in [[console.authority, "evil.example"], ["evil.example", console.authority]] {
            let fields = hosts.map { "Host: \($0)\r\n" }.joined()
            let answer = try await RawConnection(port: console.port).send("GET /livez HTTP/1.1\r\n\(fields)\r\n")
            #expect(answer.status == 400 && answer.field("content-security-policy") != nil)
        }
        await console.stop()
    }

    @Test func `a stranger who sends requests and reads no answer keeps nobody out`() async throws {
        let console = try await console()
        let wrong = "GET /livez HTTP/1.1\r\nHost: evil.example\r\n\r\n"
        let right = "GET /-/console.js HTTP/1.1\r\nHost: \(console.authority)\r\n\r\n"
        let floods = [wrong, right].map { Array(repeatElement(Array($0.utf8), count: 3000).joined()) }
        var open: [RawSocket.Box] = []
        for number in 0..<560 {
            let socket = RawSocket.Box(try RawSocket(port: console.port))
            _ = socket.value.offer(floods[number % 2])
            open.append(socket)
        }
        for _ in 0..<10 { #expect(try await console.ask("GET", "/livez").status == 200) }
        let table = try #require(console.server.table)
        #expect(table.count <= 512 && table.busyCount == 0)
        await console.stop()
        _ = open
    }
}
