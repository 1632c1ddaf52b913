// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import NIOHTTP1
import Testing

@testable import ConnectorControl

/// How long a client may take, on a clock of the test's own.
@Suite struct RequestDeadlineTests {
    private static let patience = TimeAmount.seconds(10)

    private func channel() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel()
        try channel.pipeline.syncOperations.addHandler(RequestDeadline(Self.patience))
        // Any address will do.
        channel.connect(to: try SocketAddress(unixDomainSocketPath: "/x"), promise: nil)
        return channel
    }

    private func request(_ channel: EmbeddedChannel) throws {
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.end(nil))
    }

    private func write(_ part: HTTPServerResponsePart, _ channel: EmbeddedChannel, flushes: Bool = true) {
        channel.write(part, promise: nil)
        if flushes { channel.flush() }
        channel.embeddedEventLoop.run()
    }

    private static let head = HTTPServerResponsePart.head(HTTPResponseHead(version: .http1_1, status: .ok))

    @Test func `a client that sends no whole request is closed, however often it sends a part`() throws {
        let channel = try channel()
        channel.embeddedEventLoop.advanceTime(by: .seconds(9))
        let head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "/")
        try channel.writeInbound(HTTPServerRequestPart.head(head))
        try channel.writeInbound(HTTPServerRequestPart.body(ByteBuffer(string: "x")))
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
    }

    @Test func `the host may take its time, and a stream may last`() throws {
        let channel = try channel()
        try request(channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
        write(Self.head, channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        write(.body(.byteBuffer(ByteBuffer(string: "x"))), channel)
        channel.embeddedEventLoop.advanceTime(by: .hours(1))
        #expect(channel.isActive)
    }

    @Test func `a client that does not take what was written is closed`() throws {
        let channel = try channel()
        try request(channel)
        write(Self.head, channel)
        write(.body(.byteBuffer(ByteBuffer(string: "x"))), channel, flushes: false)
        channel.embeddedEventLoop.advanceTime(by: Self.patience)
        #expect(!channel.isActive)
    }

    @Test func `the next request must come in time`() throws {
        let channel = try channel()
        for _ in 0..<3 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(9))
            try request(channel)
            channel.embeddedEventLoop.advanceTime(by: .minutes(1))
            write(Self.head, channel)
            write(.end(nil), channel)
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: Self.patience)
        #expect(!channel.isActive)
    }
}
