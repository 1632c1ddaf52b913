// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import Synchronization
import Testing

@testable import ConnectorKit
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Requests and responses in parts, as an author in Swift has them: the kit on the services of a host.
@Suite(.timeLimit(.minutes(5))) struct KitStreamTests {
    private static func upload(_ parts: [[UInt8]], length: UInt64? = nil, asked: CallCounter? = nil) -> HTTPUpload {
        let rest = Rest(parts)
        return HTTPUpload(length: length) { () throws(PluginError) in
            asked?.add()
            return rest.next()
        }
    }

    private final class Rest: Sendable {
        private let parts: Mutex<[[UInt8]]>

        init(_ parts: [[UInt8]]) {
            self.parts = Mutex(parts)
        }

        func next() -> [UInt8]? { parts.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
    }

    @Test func `a response is read part by part`() async throws {
        let server = LoopbackServer { _ in
            .raw("HTTP/1.1 200 OK\r\nX-A: b\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n")
        }
        defer { server.stop() }
        let line = try KitSide()
        let stream = try await line.http.stream(HTTPRequest(.get, try #require(HTTPURL(server.url()))))
        #expect(stream.status == 200 && stream.headers["X-A"] == "b")
        var text = ""
        for try await part in stream { text += String(decoding: part, as: UTF8.self) }
        #expect(text == "onetwo")
        var parts = stream.makeAsyncIterator()
        #expect(try await parts.next() == nil)
    }

    @Test(arguments: [nil, 3 << 20] as [UInt64?])
    func `a body is sent part by part, in pieces that the host takes`(_ length: UInt64?) async throws {
        let server = LoopbackServer { .response(200, [], Array("\($0.body.count)".utf8)) }
        defer { server.stop() }
        let line = try KitSide()
        let parts = [[UInt8](repeating: 1, count: (2 << 20) + 1), [], [UInt8](repeating: 2, count: (1 << 20) - 1)]
        let request = HTTPRequest(.put, try #require(HTTPURL(server.url())))
        let stream = try await line.http.stream(request, body: Self.upload(parts, length: length), silence: nil)
        #expect(String(decoding: try await stream.response(limit: 99).body, as: UTF8.self) == "\(3 << 20)")
    }

    @Test func `a body that fails ends the request with its error`() async throws {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let line = try KitSide()
        let upload = HTTPUpload { () throws(PluginError) in throw PluginError(.notFound, "the file is gone") }
        let request = HTTPRequest(.put, try #require(HTTPURL(server.url())))
        let error = await #expect(throws: PluginError.self) {
            _ = try await line.http.stream(request, body: upload, silence: nil)
        }
        #expect(error?.status == .notFound)
    }

    @Test func `an answer that comes before the end of the body is the result`() async throws {
        let heads = ScriptLine()
        // It keeps the connection open: one that is closed with bytes unread is reset, which may overtake the answer.
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
        }
        heads.send("413 No\r\nContent-Length: 0")
        let line = try KitSide()
        let request = HTTPRequest(.put, try #require(HTTPURL(server.url())))
        // Without an end: only the answer ends it.
        let upload = HTTPUpload { () throws(PluginError) in [UInt8](repeating: 0, count: 65536) }
        #expect(try await line.http.stream(request, body: upload, silence: nil).status == 413)
        line.connection.close()
    }

    @Test(arguments: [1, 65536])
    func `a redirect before the end of the body ends the request, since a GET would lose it`(_ size: Int) async throws {
        let heads = ScriptLine()
        let other = LoopbackServer { _ in .response(200, [], Array("moved".utf8)) }
        // It reads nothing more, so that large parts do not leave.
        let server = LoopbackServer.hasty(heads)
        defer {
            heads.send(nil)
            server.stop()
            other.stop()
        }
        heads.send("303 Elsewhere\r\nLocation: \(other.url())\r\nContent-Length: 0")
        let line = try KitSide()
        let request = HTTPRequest(.put, try #require(HTTPURL(server.url())))
        // Without an end: only the redirect ends it.
        let upload = HTTPUpload { () throws(PluginError) in [UInt8](repeating: 0, count: size) }
        let error = await #expect(throws: PluginError.self) {
            _ = try await line.http.stream(request, body: upload, silence: nil)
        }
        #expect(error?.message.contains("with a redirect (303)") == true)
        #expect(other.requests.isEmpty)
        line.connection.close()
    }

    @Test func `a stream that is released ends its request`() async throws {
        let server = LoopbackServer { _ in .stall }
        defer { server.stop() }
        let line = try KitSide()
        let request = HTTPRequest(.get, try #require(HTTPURL(server.url())))
        let task = Task { try await line.http.stream(request) }
        task.cancel()
        await #expect(throws: PluginError.self) { _ = try await task.value }
        await line.plugin.gate.stopAndAwaitCallbacks()
    }

    @Test func `a stream after the end of its instance does not read the host's table`() async throws {
        let line = try KitSide()
        let table = UnsafeMutablePointer<connector_http>.allocate(capacity: 1)
        defer { unsafe table.deallocate() }
        unsafe table.initialize(to: try #require(line.plugin.http).pointee)
        let http = unsafe HostHTTP(line.connection, UnsafePointer(table), clock: line.clock)
        line.connection.close()
        // Whatever is there now.
        unsafe table.pointee.struct_size = 0
        let error = await #expect(throws: PluginError.self) {
            _ = try await http.stream(HTTPRequest(.get, try #require(HTTPURL("http://127.0.0.1"))))
        }
        #expect(error?.status == .notOpen)
    }

    @Test func `a URL with two dots as a segment is not sent`() async throws {
        let server = LoopbackServer { _ in .response(200) }
        defer { server.stop() }
        let line = try KitSide()
        let request = HTTPRequest(.get, try #require(HTTPURL(server.url())).appending("users", "..", "notes"))
        let sent = await #expect(throws: PluginError.self) { _ = try await line.http.send(request) }
        let streamed = await #expect(throws: PluginError.self) { _ = try await line.http.stream(request) }
        #expect(sent?.status == .invalid && streamed?.status == .invalid && server.requests.isEmpty)
        line.connection.close()
    }

    @Test func `a closed gate ends a stream that is waiting`() async throws {
        let texts = ScriptLine()
        let server = LoopbackServer { _ in
            .written { write in
                write(Array("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n".utf8))
                while let text = texts.next() { write(Array(text.utf8)) }
            }
        }
        defer { server.stop() }
        texts.send("half")
        let line = try KitSide()
        let stream = try await line.http.stream(HTTPRequest(.get, try #require(HTTPURL(server.url()))))
        var parts = stream.makeAsyncIterator()
        #expect(try await parts.next() == Array("half".utf8))
        async let quiet: Void = line.plugin.gate.stopAndAwaitCallbacks()
        let error = await #expect(throws: PluginError.self) { _ = try await parts.next() }
        #expect(error?.status == .cancelled)
        await quiet
        texts.send(nil)
        line.connection.close()
        await #expect(throws: PluginError.self) {
            _ = try await line.http.stream(HTTPRequest(.get, try #require(HTTPURL(server.url()))))
        }
    }
}
