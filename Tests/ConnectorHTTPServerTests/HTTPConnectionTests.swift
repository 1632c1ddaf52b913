// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import ConnectorHTTPServer

/// One connection, on a clock and a network that the test controls.
@Suite(.timeLimit(.minutes(2))) struct HTTPConnectionTests {
    /// The socket's side: counts reads, and holds back writes until they are let go.
    private final class Wire: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private struct State {
            var reads = 0
            var isHeld = false
            var held: [EventLoopPromise<Void>] = []
        }

        private let state = Mutex(State())

        /// How often the connection asked for bytes.
        var reads: Int { state.withLock(\.reads) }
        /// How many writes wait.
        var heldCount: Int { state.withLock(\.held.count) }

        /// Lets no write end until ``letGo()``.
        func hold() { state.withLock { $0.isHeld = true } }

        /// Ends every write that waits, and holds back the next ones.
        func takeHeld() {
            let held = state.withLock { state in
                defer { state.held = [] }
                return state.held
            }
            for promise in held { promise.succeed() }
        }

        /// Ends every write that waits, and lets the others pass.
        func letGo() {
            let held = state.withLock { state in
                state.isHeld = false
                return state.held
            }
            for promise in held { promise.succeed() }
        }

        func read(context: ChannelHandlerContext) {
            state.withLock { $0.reads += 1 }
            context.read()
        }

        func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
            let isHeld = state.withLock { state in
                if state.isHeld, let promise { state.held.append(promise) }
                return state.isHeld
            }
            context.write(data, promise: isHeld ? nil : promise)
        }
    }

    /// A connection whose server admits as the test says.
    private func open(
        _ limits: ServerLimits = ServerLimits(),
        _ admit: @escaping @Sendable (ServerRequest) -> RequestAdmission = { request in
            .answer(ServerResponse(status: 200, [:], .bytes(Array(request.target.utf8))))
        }
    ) async throws -> (NIOAsyncTestingChannel, Wire, SharedServerState) {
        let wire = Wire()
        let shared = SharedServerState(limits, [:], admit)
        let channel = NIOAsyncTestingChannel()
        try await channel.eventLoop.submit {
            try channel.pipeline.syncOperations.addHandlers([wire, HTTPConnection(shared)])
        }.get()
        try await channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).get()
        return (channel, wire, shared)
    }

    private func request(_ target: String, _ fields: String = "", body: String = "") -> ByteBuffer {
        ByteBuffer(string: "GET \(target) HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\(body)")
    }

    /// What was written.
    private func written(_ channel: NIOAsyncTestingChannel) async throws -> String {
        var text = ""
        while let part = try await channel.readOutbound(as: ByteBuffer.self) { text += String(buffer: part) }
        return text
    }

    @Test func `a client that takes no answer is read no further, and only one of its requests is answered`()
        async throws
    {
        let admitted = Mutex<[String]>([])
        let (channel, wire, _) = try await open(ServerLimits()) { request in
            admitted.withLock { $0.append(request.target) }
            return .answer(ServerResponse(status: 200, [:], .bytes(Array(request.target.utf8))))
        }
        wire.hold()
        let before = wire.reads
        var flood = ByteBuffer()
        for number in 0..<20 { flood.writeImmutableBuffer(request("/\(number)")) }
        try await channel.writeInbound(flood)
        #expect(admitted.withLock(\.self) == ["/0"], "the others wait for the answer to this one")
        #expect(wire.reads == before && wire.heldCount == 1)
        wire.letGo()
        await channel.testingEventLoop.run()
        #expect(admitted.withLock(\.count) == ServerLimits().burst, "other connections have their turn, too")
        for _ in 0..<20 { await channel.testingEventLoop.advanceTime(by: .milliseconds(1)) }
        let answers = try await written(channel)
        #expect(admitted.withLock(\.count) == 20)
        #expect(answers.matches(of: #/\r\n\r\n\/(\d+)/#).map { Int($0.1) ?? -1 } == Array(0..<20), "in their order")
        try await channel.writeInbound(request("/last"))
        #expect(wire.reads > before)
        try await channel.close().get()
    }

    @Test func `bytes that arrive although none were asked for end the connection`() async throws {
        let limits = ServerLimits()
        let (channel, wire, shared) = try await open(limits)
        wire.hold()
        try await channel.writeInbound(request("/"))
        let more = ByteBuffer(repeating: 0x61, count: limits.bodyReadSize)
        for _ in 0..<3 { _ = try? await channel.writeInbound(more) }
        #expect(!channel.isActive)
        #expect(shared.table.count == 0)
    }

    @Test func `after a refusal the server looks at no further request`() async throws {
        let admitted = Mutex(0)
        let (channel, _, _) = try await open(ServerLimits()) { _ in
            admitted.withLock { $0 += 1 }
            return .answer(ServerResponse(status: 403, isLast: true))
        }
        var flood = ByteBuffer()
        for _ in 0..<1000 { flood.writeImmutableBuffer(request("/")) }
        try await channel.writeInbound(flood)
        #expect(admitted.withLock(\.self) == 1)
        let answer = try await written(channel)
        #expect(answer.hasPrefix("HTTP/1.1 403 Forbidden\r\n") && answer.contains("Connection: close\r\n"))
        #expect(answer.split(separator: "HTTP/1.1").count == 1)
        _ = try? await channel.writeInbound(flood)
        #expect(admitted.withLock(\.self) == 1)
    }

    @Test func `a request that breaks the rules is answered with the reason, and ends the connection`() async throws {
        let (channel, _, _) = try await open()
        try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"))
        let answer = try await written(channel)
        #expect(answer.hasPrefix("HTTP/1.1 400 ") && answer.hasSuffix("the field host is there twice\n"))
        await channel.testingEventLoop.advanceTime(by: .seconds(10))
        #expect(!channel.isActive)
    }

    @Test func `a body is read neither for an answer that does not need it, nor beyond its limit`() async throws {
        let (channel, _, _) = try await open(ServerLimits()) { _ in .answer(ServerResponse(status: 403)) }
        try await channel.writeInbound(request("/", "Content-Length: 1000000\r\n"))
        #expect(try await written(channel).contains("Connection: close\r\n"))
        let limited: @Sendable (ServerRequest) -> RequestAdmission = { _ in
            .read(limit: 3, tooLarge: { ServerResponse(status: 413) }, answer: { _ in ServerResponse(status: 200) })
        }
        let (announced, _, _) = try await open(ServerLimits(), limited)
        try await announced.writeInbound(request("/", "Content-Length: 4\r\nExpect: 100-continue\r\n"))
        let refused = try await written(announced)
        #expect(refused.hasPrefix("HTTP/1.1 413 ") && !refused.contains("100"), "it is not told to continue")
        let (chunked, _, _) = try await open(ServerLimits(), limited)
        try await chunked.writeInbound(request("/", "Transfer-Encoding: chunked\r\n", body: "2\r\nab\r\n2\r\ncd\r\n"))
        #expect(try await written(chunked).hasPrefix("HTTP/1.1 413 "))
    }

    @Test func `a body of many parts arrives whole`() async throws {
        let (channel, _, _) = try await open(ServerLimits()) { _ in
            .read(
                limit: 1000,
                tooLarge: { ServerResponse(status: 413) },
                answer: { request in ServerResponse(status: 200, [:], .bytes(request.body)) }
            )
        }
        let body = (0..<1000).map { "\($0 % 7)" }.joined()
        let chunks = body.map { "1\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
        try await channel.writeInbound(request("/", "Transfer-Encoding: chunked\r\n", body: chunks))
        #expect(try await written(channel, until: body).contains("Content-Length: 1000\r\n"))
        try await channel.close().get()
    }

    @Test func `an HTTP 1 0 client gets one answer, and the connection ends`() async throws {
        let (channel, _, _) = try await open()
        try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))
        await channel.testingEventLoop.run()
        #expect(try await written(channel).contains("Connection: close\r\n"))
        #expect(!channel.isActive)
    }

    // MARK: Time

    private static let patience = TimeAmount.seconds(10)

    @Test func `a client that sends no whole request is disconnected, however often it sends a part`() async throws {
        let (channel, _, _) = try await open()
        await channel.testingEventLoop.advanceTime(by: .seconds(9))
        try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.1\r\nHo"))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `a client that does not take its answer is disconnected`() async throws {
        let (channel, wire, _) = try await open()
        wire.hold()
        try await channel.writeInbound(request("/"))
        await channel.testingEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `the next request must come in time`() async throws {
        let (channel, _, _) = try await open()
        for _ in 0..<3 {
            await channel.testingEventLoop.advanceTime(by: .seconds(9))
            try await channel.writeInbound(request("/"))
            #expect(channel.isActive)
        }
        await channel.testingEventLoop.advanceTime(by: Self.patience)
        #expect(!channel.isActive)
    }

    @Test func `the host may take any time to answer, and the end of the connection cancels its work`() async throws {
        let (begun, begin) = AsyncStream.makeStream(of: Void.self)
        let (cancelled, cancel) = AsyncStream.makeStream(of: Void.self)
        let (channel, _, shared) = try await open(ServerLimits()) { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    begin.finish()
                    // Ends when the task is cancelled.
                    for await _ in AsyncStream<Void>.makeStream().stream {}
                    cancel.finish()
                    return ServerResponse(status: 200)
                }
            )
        }
        try await channel.writeInbound(request("/"))
        for await _ in begun {}
        await channel.testingEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive && shared.table.busyCount == 1)
        try await channel.close().get()
        for await _ in cancelled {}
        #expect(shared.table.count == 0)
    }

    // MARK: Streams

    private static let streaming: @Sendable (ServerRequest) -> RequestAdmission = { _ in
        .read(
            limit: 0,
            tooLarge: { ServerResponse(status: 413) },
            answer: { _ in
                ServerResponse(
                    status: 200,
                    [:],
                    .stream { writer in
                        try await writer.write(Array("one".utf8))
                        try await writer.write(Array("more".utf8))
                    }
                )
            }
        )
    }

    /// Reads what is written until a text comes.
    private func written(_ channel: NIOAsyncTestingChannel, until end: String) async throws -> String {
        var text = ""
        while !text.hasSuffix(end) {
            text += String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self))
        }
        return text
    }

    @Test(arguments: [true, false])
    func `a client that takes no part of a stream is disconnected, unless the server sets no limit`(
        _ hasStreamTimeout: Bool
    ) async throws {
        var limits = ServerLimits()
        limits.hasStreamTimeout = hasStreamTimeout
        let (channel, wire, _) = try await open(limits, Self.streaming)
        wire.hold()
        try await channel.writeInbound(request("/"))
        _ = try await written(channel, until: "3\r\none\r\n")
        await channel.testingEventLoop.advanceTime(by: .seconds(9))
        #expect(channel.isActive)
        await channel.testingEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive != hasStreamTimeout)
        wire.letGo()
        guard !hasStreamTimeout else { return }
        #expect(try await written(channel, until: "0\r\n\r\n") == "4\r\nmore\r\n0\r\n\r\n")
        try await channel.close().get()
    }

    @Test func `a client that takes a large part of a stream slowly has the timeout for each slice of it`() async throws
    {
        let limits = ServerLimits()
        let part = [UInt8](repeating: 0x61, count: 4 * limits.writeSize)
        let (channel, wire, _) = try await open(limits) { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in ServerResponse(status: 200, [:], .stream { writer in try await writer.write(part) }) }
            )
        }
        wire.hold()
        try await channel.writeInbound(request("/"))
        _ = try await written(channel, until: "\r\n\r\n")
        let slice = "10000\r\n\(String(repeating: "a", count: limits.writeSize))\r\n"
        for _ in 0..<4 {
            let next = String(buffer: try await channel.waitForOutboundWrite(as: ByteBuffer.self))
            try #require(next == slice)
            await channel.testingEventLoop.advanceTime(by: .seconds(6))
            try #require(channel.isActive)
            wire.takeHeld()
        }
        #expect(try await written(channel, until: "0\r\n\r\n") == "0\r\n\r\n")
        wire.letGo()
        try await channel.close().get()
    }

    @Test func `a stream is sent in chunks, and another request may follow it`() async throws {
        let (channel, _, _) = try await open(ServerLimits(), Self.streaming)
        for _ in 0..<2 {
            try await channel.writeInbound(request("/"))
            let answer = try await written(channel, until: "0\r\n\r\n")
            #expect(answer.contains("Transfer-Encoding: chunked\r\n"))
            #expect(answer.hasSuffix("\r\n\r\n3\r\none\r\n4\r\nmore\r\n0\r\n\r\n"))
        }
        try await channel.close().get()
    }

    @Test func `HEAD answers with a stream's header, and without a body`() async throws {
        let (channel, _, _) = try await open(ServerLimits(), Self.streaming)
        try await channel.writeInbound(ByteBuffer(string: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
        let answer = try await written(channel, until: "\r\n\r\n")
        #expect(answer.contains("Transfer-Encoding: chunked\r\n") && answer.hasSuffix("\r\n\r\n"))
        // What follows is the next answer.
        try await channel.writeInbound(ByteBuffer(string: "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n"))
        #expect(try await written(channel, until: "\r\n\r\n") == answer)
        try await channel.close().get()
    }

    @Test func `a stream to an HTTP 1 0 client is not chunked`() async throws {
        let (channel, _, _) = try await open(ServerLimits(), Self.streaming)
        try await channel.writeInbound(ByteBuffer(string: "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"))
        let answer = try await written(channel, until: "more")
        #expect(
            !answer.contains("chunked") && answer.contains("Connection: close\r\n")
                && answer.hasSuffix("\r\n\r\nonemore")
        )
    }

    @Test func `an answer's fields cannot end its header`() async throws {
        let (channel, _, _) = try await open(ServerLimits()) { _ in
            .answer(ServerResponse(status: 200, ["X": "a\r\nSet-Cookie: b", "Y\r\nZ": "c", "Content-Length": "99"]))
        }
        try await channel.writeInbound(request("/"))
        let answer = try await written(channel)
        #expect(
            answer.contains("X: a  Set-Cookie: b\r\n") && !answer.contains("Z")
                && answer.contains("Content-Length: 0\r\n")
        )
        try await channel.close().get()
    }
}
