// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Bodies of requests in parts.
@Suite(.timeLimit(.minutes(5))) struct HTTPBodyPartsTests {
    @Test(arguments: [UInt64.max, 6])
    func `a body is sent part by part, whether its length is known or not`(_ length: UInt64) async throws {
        let server = LoopbackServer { .response(201, [], $0.body) }
        defer { server.stop() }
        let plugin = PluginSide()
        let request = try plugin.stream("PUT", server.url(), length: length)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        #expect(request.write("") == CONNECTOR_OK)
        await request.rooms.reaches(2)
        #expect(request.write("two", isLast: true) == CONNECTOR_OK)
        #expect(request.write("three") == CONNECTOR_MISUSE)
        #expect(await request.next()?.code == 201)
        #expect(await request.part()?.text == "onetwo")
        #expect(await request.part()?.status == CONNECTOR_OK)
        let fields = try #require(server.requests.first?.fields)
        #expect(fields["content-length"] == (length == .max ? nil : "6"))
        #expect(fields["transfer-encoding"] == (length == .max ? "chunked" : nil))
        #expect(request.write("four") == CONNECTOR_UNKNOWN_OPERATION)
        #expect(request.rooms.count == 2)
        #expect(plugin.gate.counters.bytesSent == 6)
    }

    @Test func `a body of a length other than announced is an error`() async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let request = try PluginSide().stream("PUT", server.url(), length: 4)
        #expect(request.write("three", isLast: true) == CONNECTOR_INVALID, "more than was said")
        #expect(request.write("one", isLast: true) == CONNECTOR_OK, "less")
        let end = try #require(await request.next())
        #expect(end.isDone && end.status != CONNECTOR_OK)
        // One that answers would end the request, perhaps before the part.
        let silent = LoopbackServer { _ in .stall }
        defer { silent.stop() }
        let empty = try PluginSide().stream("PUT", silent.url(), length: 0)
        #expect(empty.write("a", isLast: true) == CONNECTOR_INVALID)
        empty.cancel()
    }

    @Test func `a part is misuse before there is room, and also for a request without a body in parts`() async throws {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let plugin = PluginSide()
        let request = try plugin.stream("PUT", server.url(), length: .max)
        let big = String(repeating: "x", count: 1 << 20)
        // No server takes as much as this at once: sooner or later there is no room.
        var status = request.write(big)
        while status == CONNECTOR_OK { status = request.write(big) }
        #expect(status == CONNECTOR_MISUSE)
        #expect(request.write(big + "x") == CONNECTOR_TOO_LARGE)
        request.cancel()
        #expect(await request.next()?.status == CONNECTOR_CANCELLED)
        let other = try plugin.stream("GET", server.url())
        #expect(other.write("a") == CONNECTOR_MISUSE)
        other.cancel()
        #expect(await other.next()?.status == CONNECTOR_CANCELLED)
        let whole = await plugin.request("PUT", server.url(), flags: CONNECTOR_HTTP_BODY_IN_PARTS)
        #expect(whole.status == CONNECTOR_MISUSE && !whole.isDone)
    }

    @Test(
        arguments: [
            (301, Int32(CONNECTOR_PROTOCOL)), (302, Int32(CONNECTOR_PROTOCOL)), (307, Int32(CONNECTOR_PROTOCOL)),
            (303, Int32(CONNECTOR_OK)),
        ]
    )
    func `a redirect that needs the body again is refused`(_ status: Int, _ expected: Int32) async throws {
        let server = LoopbackServer { request in
            request.line.contains("/old") ? .response(status, [("Location", "/new")]) : .response(200)
        }
        defer { server.stop() }
        let request = try PluginSide().stream("PUT", server.url("/old"), length: 1)
        #expect(request.write("a", isLast: true) == CONNECTOR_OK)
        let first = try #require(await request.next())
        #expect(first.status == expected)
        if status == 303 { #expect(server.requests.last?.line == "GET /new HTTP/1.1") }
        request.cancel()
    }

    @Test(
        arguments: [
            "401 No\r\nContent-Length: 0", "413 No\r\nContent-Length: 0", "200 OK\r\nContent-Length: 0", "204 OK",
        ],
        [UInt64.max, 6]
    )
    func `a complete answer ends the request before its body has ended`(_ head: String, _ length: UInt64) async throws {
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        let request = try PluginSide().stream("PUT", server.url(), length: length)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        heads.send(head)
        let first = try #require(await request.next())
        #expect(!first.isDone && head.hasPrefix("\(first.code)"))
        let end = try #require(await request.part())
        #expect(end.isDone && end.status == CONNECTOR_OK && end.code == first.code)
        #expect(request.write("two") == CONNECTOR_UNKNOWN_OPERATION)
    }

    @Test func `the parts of a gate's bodies that are on their way are bounded together`() throws {
        let held = HeldBytes("the bodies", limit: 10)
        let bodies = (0..<2).map { _ in BodyParts(length: nil, sending: nil, held: held) { _ in } }
        let part: [UInt8] = [1, 2, 3, 4, 5, 6]
        try bodies[0].write(part, isLast: false)
        let refusal = #expect(throws: ServiceFailure.self) { try bodies[1].write(part, isLast: false) }
        #expect(refusal?.status == CONNECTOR_RATE_LIMITED && refusal?.isRetryable == true)
        let misuse = #expect(throws: ServiceFailure.self) { try bodies[0].write(part, isLast: false) }
        #expect(misuse?.status == CONNECTOR_MISUSE)
        // What has ended makes room, once.
        for _ in 1...2 { bodies[0].end() }
        try bodies[1].write(part, isLast: false)
        #expect(throws: ServiceFailure.self) { try held.take(5) }
        try held.take(4)
    }

    @Test func `the end of the body frees a part's room once, and the next part is refused`() throws {
        let rooms = CallCounter()
        let body = BodyParts(length: nil, sending: nil) { _ in rooms.add() }
        try body.write([1], isLast: false)
        #expect(rooms.count == 0)
        body.end()
        body.end()
        #expect(rooms.count == 1)
        #expect(throws: ServiceFailure.self) { try body.write([2], isLast: false) }
        let whole = BodyParts(length: nil, sending: nil) { _ in rooms.add() }
        try whole.write([1], isLast: true)
        whole.end()
        #expect(rooms.count == 1)
    }

    @Test func `a redirect before the end of the body is followed without the rest`() async throws {
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        let other = LoopbackServer { _ in .response(200) }
        defer {
            heads.send(nil)
            server.stop()
            other.stop()
        }
        let request = try PluginSide().stream("PUT", server.url(), length: .max)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        heads.send("303 Elsewhere\r\nLocation: \(other.url("/new"))\r\nContent-Length: 0")
        #expect(await request.next()?.code == 200)
        #expect(request.write("two") == CONNECTOR_UNKNOWN_OPERATION)
        #expect(await request.part()?.isDone == true)
        #expect(other.requests.first?.line == "GET /new HTTP/1.1")
    }

    @Test(arguments: ["", "2\r\nno\r\n"])
    func `a refusal of unknown length ends with its end, however long that takes`(_ body: String) async throws {
        let clock = ManualHostClock()
        let pieces = ScriptLine()
        let server = LoopbackServer.hasty(pieces) { $0 }
        defer {
            pieces.send(nil)
            server.stop()
        }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let request = try plugin.stream("PUT", server.url(), length: .max)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        pieces.send("HTTP/1.1 401 No\r\nTransfer-Encoding: chunked\r\n\r\n\(body)")
        #expect(await request.next()?.code == 401)
        if !body.isEmpty { #expect(await request.part()?.text == "no") }
        request.resume()
        clock.advance(by: .seconds(29))
        pieces.send("3\r\nyes\r\n")
        #expect(await request.next()?.text == "yes")
        request.resume()
        pieces.send("0\r\n\r\n")
        let end = try #require(await request.next())
        #expect(end.isDone && end.status == CONNECTOR_OK && end.code == 401, "\(end.message)")
        #expect(request.write("two") == CONNECTOR_UNKNOWN_OPERATION)
    }

    @Test func `a request that waits for its plugin says so at the deadline`() async throws {
        let clock = ManualHostClock()
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let unsent = try plugin.stream("PUT", server.url(), length: .max)
        #expect(unsent.write("one") == CONNECTOR_OK)
        await unsent.rooms.reaches(1)
        clock.advance(by: .seconds(30))
        let first = try #require(await unsent.next())
        #expect(first.status == CONNECTOR_TIMED_OUT)
        #expect(first.message.contains("the plugin did not send the rest of the request's body"), "\(first.message)")
        let other = LoopbackServer { _ in .response(200, [], Array("whole".utf8)) }
        defer { other.stop() }
        let unasked = try plugin.stream("GET", other.url(), deadline: clock.now() + 1_000_000_000)
        #expect(await unasked.next()?.code == 200)
        clock.advance(by: .seconds(1))
        let second = try #require(await unasked.next())
        #expect(second.status == CONNECTOR_TIMED_OUT)
        #expect(second.message.contains("the plugin did not ask for the rest of the response"), "\(second.message)")
    }

    @Test func `an early answer that does not end times out`() async throws {
        let clock = ManualHostClock()
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let request = try plugin.stream("PUT", server.url(), length: .max)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        heads.send("401 No\r\nTransfer-Encoding: chunked")
        #expect(await request.next()?.code == 401)
        clock.advance(by: .seconds(30))
        #expect(await request.next()?.status == CONNECTOR_TIMED_OUT)
    }

    @Test func `the host's deadline ends with the body if the response has begun by then`() async throws {
        let heads = ScriptLine()
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        let plugin = PluginSide()
        let request = try plugin.stream("PUT", server.url(), length: .max)
        #expect(request.write("one") == CONNECTOR_OK)
        await request.rooms.reaches(1)
        heads.send("200 OK\r\nTransfer-Encoding: chunked")
        #expect(await request.next()?.code == 200)
        #expect(request.write("", isLast: true) == CONNECTOR_OK)
        let known = try #require(plugin.gate.state.withLock { $0.requests[request.id] })
        #expect(known.timer == nil)
        request.cancel()
        #expect(await request.next()?.status == CONNECTOR_CANCELLED)
    }

    @Test func `a body of a known length ends with its last byte`() async throws {
        let server = LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n") }
        defer { server.stop() }
        let request = try PluginSide().stream("PUT", server.url(), length: 3)
        #expect(request.write("one") == CONNECTOR_OK)
        #expect(await request.next()?.code == 200)
        #expect(await request.part()?.status == CONNECTOR_OK)
    }

    @Test func `the host's deadline starts again with each part`() async throws {
        let clock = ManualHostClock()
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let request = try plugin.stream("PUT", server.url(), length: .max)
        for count in 1...5 {
            clock.advance(by: .seconds(29))
            #expect(request.write("part") == CONNECTOR_OK)
            await request.rooms.reaches(count)
        }
        clock.advance(by: .seconds(30))
        #expect(await request.next()?.status == CONNECTOR_TIMED_OUT)
    }
}
