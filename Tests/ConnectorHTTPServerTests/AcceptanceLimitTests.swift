// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOEmbedded
import Testing

@testable import ConnectorHTTPServer

/// How many connections a listener accepts.
@Suite struct AcceptanceLimitTests {
    /// Counts the reads that reach the socket.
    private final class ReadCounter: ChannelOutboundHandler {
        typealias OutboundIn = Never

        private(set) var count = 0

        func read(context: ChannelHandlerContext) {
            count += 1
            context.read()
        }
    }

    @Test func `no more connections are accepted while those that make room have not closed`() throws {
        let loop = EmbeddedEventLoop()
        let (listener, reads) = (EmbeddedChannel(loop: loop), ReadCounter())
        try listener.pipeline.syncOperations.addHandler(reads)
        try listener.pipeline.syncOperations.addHandler(AcceptanceLimit(limit: 2))
        let connections = (0..<2).map { _ in EmbeddedChannel(loop: loop) }
        listener.pipeline.syncOperations.read()
        #expect(reads.count == 1)
        for connection in connections {
            listener.pipeline.syncOperations.fireChannelRead(NIOAny(connection as any Channel))
        }
        listener.pipeline.syncOperations.read()
        #expect(reads.count == 1)
        connections[0].close(promise: nil)
        loop.run()
        #expect(reads.count == 2)
        for channel in [listener, connections[1]] { channel.close(promise: nil) }
        loop.run()
    }
}
