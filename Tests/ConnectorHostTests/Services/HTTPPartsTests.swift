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

/// Responses in parts.
@Suite(.timeLimit(.minutes(5))) struct HTTPPartsTests {
    private static let head = Array("HTTP/1.1 200 OK\r\nX-Kind: watch\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    private static let end = Array("0\r\n\r\n".utf8)

    private static func chunk(_ text: String) -> [UInt8] {
        Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8)
    }

    /// A server that sends a chunk whenever the test sends a text, and ends its response after nil.
    private static func server(_ texts: ScriptLine) -> LoopbackServer {
        LoopbackServer { _ in
            .written { write in
                write(head)
                while let text = texts.next() { write(chunk(text)) }
                if !texts.isBroken { write(end) }
            }
        }
    }

    @Test func `parts come as the server sends them, each only once it is asked for`() async throws {
        let line = ScriptLine()
        let server = Self.server(line)
        defer { server.stop() }
        let plugin = PluginSide()
        let response = try plugin.stream("GET", server.url("/watch"))

        let head = try #require(await response.next())
        #expect(head.code == 200 && head.fields["x-kind"] == "watch" && head.body.isEmpty)
        line.send("one")
        #expect(await response.part()?.text == "one")
        // Asked for before it comes, and asked for twice.
        response.resume()
        response.resume()
        line.send("two")
        #expect(await response.next()?.text == "two")
        line.send(nil)
        let end = try #require(await response.part())
        #expect(end.isDone && end.status == CONNECTOR_OK && end.code == 200 && end.body.isEmpty)
        #expect(await response.next() == nil)
        #expect(server.requests.first?.fields["accept-encoding"] == "identity")
        #expect(plugin.gate.counters.bytesReceived == 6)
    }

    @Test func `a server waits while the plugin asks for nothing, and the length of a body is not limited`()
        async throws
    {
        let (piece, count) = (String(repeating: "x", count: 65536), 640)
        let sent = Atomic(0)
        let server = LoopbackServer { _ in
            .written { write in
                write(Self.head)
                for _ in 0..<count {
                    write(Self.chunk(piece))
                    sent.add(piece.utf8.count, ordering: .relaxed)
                }
                write(Self.end)
            }
        }
        defer { server.stop() }
        let response = try PluginSide().stream("GET", server.url())
        _ = await response.next()
        var (received, ahead) = (0, 0)
        while let part = await response.part(), !part.isDone {
            received += part.body.count
            ahead = max(ahead, sent.load(ordering: .relaxed) - received)
        }
        #expect(received == count * piece.utf8.count)
        // What the buffers of both sockets hold: by default 4 and 6 MB at most.
        #expect(ahead < 24 << 20)
    }

    @Test func `a redirect is followed, and its body dropped`() async throws {
        let line = ScriptLine()
        let server = LoopbackServer { request in
            if request.line.contains("/old") { return .response(307, [("Location", "/new")], Array("moved".utf8)) }
            return .written { write in
                write(Self.head)
                while let text = line.next() { write(Self.chunk(text)) }
                write(Self.end)
            }
        }
        defer { server.stop() }
        let response = try PluginSide().stream("GET", server.url("/old"))
        #expect(await response.next()?.code == 200)
        line.send("new")
        #expect(await response.part()?.text == "new")
        line.send(nil)
        #expect(await response.part()?.isDone == true)
    }

    @Test func `a body that breaks off ends with a failure after its parts`() async throws {
        let line = ScriptLine(isBroken: true)
        let server = Self.server(line)
        defer { server.stop() }
        let response = try PluginSide().stream("GET", server.url())
        _ = await response.next()
        line.send("half")
        #expect(await response.part()?.text == "half")
        line.send(nil)
        let end = try #require(await response.part())
        #expect(end.isDone && end.status == CONNECTOR_UNAVAILABLE)
        #expect(end.isRetryable)
    }

    @Test func `a part that arrived before the connection broke is delivered before the failure`() async throws {
        let server = LoopbackServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") }
        defer { server.stop() }
        let response = try PluginSide().stream("GET", server.url())
        #expect(await response.next()?.code == 200)
        // The host closes its side when the exchange has failed.
        await server.ended.reaches(1)
        #expect(await response.part()?.text == "short")
        let end = try #require(await response.part())
        #expect(end.isDone && end.status == CONNECTOR_UNAVAILABLE)
    }

    @Test func `chunks that arrived together before the connection broke are all delivered before the failure`()
        async throws
    {
        let chunks = String(repeating: "a\r\n0123456789\r\n", count: 20)
        let server = LoopbackServer { _ in
            .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")
        }
        defer { server.stop() }
        let response = try PluginSide().stream("GET", server.url())
        #expect(await response.next()?.code == 200)
        await server.ended.reaches(1)
        var text = ""
        var part = try #require(await response.part())
        while !part.isDone {
            text += part.text
            part = try #require(await response.part())
        }
        #expect(text == String(repeating: "0123456789", count: 20))
        #expect(part.status == CONNECTOR_UNAVAILABLE)
    }

    @Test func `the host's deadline covers the head only, and silence ends the rest`() async throws {
        let clock = ManualHostClock()
        let line = ScriptLine()
        let server = Self.server(line)
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let response = try plugin.stream("GET", server.url(), silence: 5_000_000_000)
        _ = await response.next()
        clock.advance(by: .seconds(3600))
        line.send("late")
        #expect(await response.part()?.text == "late")
        // Nothing is asked for: the plugin may take its time.
        clock.advance(by: .seconds(3600))
        response.resume()
        clock.advance(by: .seconds(5))
        let end = try #require(await response.next())
        #expect(end.isDone && end.status == CONNECTOR_TIMED_OUT)
        #expect(end.message.contains("the server sent nothing for 5.0 s"))
    }

    @Test(arguments: [true, false])
    func `a deadline set by the plugin covers the whole response, and says who was late`(isAsked: Bool) async throws {
        let clock = ManualHostClock()
        let line = ScriptLine()
        let server = Self.server(line)
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let response = try plugin.stream("GET", server.url(), deadline: clock.now() + 1_000_000_000)
        _ = await response.next()
        line.send("one")
        #expect(await response.part()?.text == "one")
        if isAsked { response.resume() }
        clock.advance(by: .seconds(1))
        let end = try #require(await response.next())
        #expect(end.status == CONNECTOR_TIMED_OUT)
        let late = "the answer of 127.0.0.1:\(server.port) was not complete in time"
        #expect(end.message == (isAsked ? late : "the plugin did not ask for the rest of the response in time"))
    }

    @Test func `a head that does not arrive in time is a timeout too`() async throws {
        let clock = ManualHostClock()
        let hasCome = CallCounter()
        let server = LoopbackServer { _ in
            hasCome.add()
            return .stall
        }
        defer { server.stop() }
        let plugin = PluginSide(host: HostServices(options: .init(clock: clock)))
        let response = try plugin.stream("GET", server.url())
        await hasCome.reaches(1)
        clock.advance(by: .seconds(30))
        #expect(await response.next()?.status == CONNECTOR_TIMED_OUT)
    }

    @Test func `cancelling ends a response once, whether or not a part is kept`() async throws {
        for mustKeep in [true, false] {
            let line = ScriptLine()
            let server = Self.server(line)
            defer { server.stop() }
            let response = try PluginSide().stream("GET", server.url())
            _ = await response.next()
            if mustKeep { line.send("kept") }
            response.cancel()
            response.cancel()
            response.resume()
            let end = try #require(await response.next())
            #expect(end.isDone && end.status == CONNECTOR_CANCELLED)
            #expect(await response.next() == nil)
            line.send(nil)
        }
    }

    @Test func `a gate that closes ends its responses before it counts as quiet`() async throws {
        let line = ScriptLine()
        let server = Self.server(line)
        defer { server.stop() }
        let plugin = PluginSide()
        let response = try plugin.stream("GET", server.url())
        _ = await response.next()
        line.send("kept")
        await plugin.gate.stopAndAwaitCallbacks()
        var last = await response.next()
        while let next = await response.next() { last = next }
        #expect(last?.isDone == true && last?.status == CONNECTOR_CANCELLED)
        line.send(nil)
    }

    @Test func `a request and a receiver without their last fields, as in an older plugin, work`() async throws {
        let line = ScriptLine()
        let server = Self.server(line)
        defer { server.stop() }
        let plugin = PluginSide()
        let response = try plugin.stream("GET", server.url(), isOld: true)
        #expect(await response.next()?.code == 200)
        // What follows an older request in memory names no call that it serves.
        plugin.gate.cancelCalls(during: 7)
        line.send(nil)
        let end = try #require(await response.part())
        #expect(end.isDone && end.status == CONNECTOR_OK, "\(end.message)")
    }

    @Test func `a forbidden host is refused at once`() throws {
        do {
            _ = try PluginSide(egress: ["example.com"]).stream("GET", "http://127.0.0.1:1/")
            Issue.record("the host was allowed")
        } catch let refusal as RequestEnd {
            #expect(refusal.status == CONNECTOR_DENIED)
        }
    }
}
