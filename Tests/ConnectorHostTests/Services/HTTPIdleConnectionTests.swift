// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import CConnector
import ConnectorBase
import NIOCore
import NIOPosix
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Kept connections on which a server speaks before it is asked.
@Suite(.timeLimit(.minutes(5))) struct HTTPIdleConnectionTests {
    @Test(
        arguments: ["HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "\r\nx"],
        [false, true]
    )
    func `bytes after an answer close the connection, and begin no answer`(
        bytes: String,
        comeWithIt: Bool
    ) async throws {
        let server = try await TalkativeServer(adding: comeWithIt ? bytes : "")
        let plugin = PluginSide(host: HostServices(options: .init(http: .lasting())))
        let first = await plugin.request("GET", server.url)
        #expect(first.code == 200, "\(first.message)")
        try await server.speak(comeWithIt ? "" : bytes)
        // The client may not know yet that its connection has closed. It would repeat a GET.
        let next = await plugin.request("GET", server.url)
        #expect(next.code == 500 && next.fields["x"] == nil, "\(next.message)")
        await server.stop()
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nX: ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx",
    ])
    func `bytes after a redirect neither answer nor fail the request to its target`(bytes: String) async throws {
        let server = try await TalkativeServer(answering: "302 Found\r\nLocation: /", adding: bytes)
        let plugin = PluginSide(host: HostServices(options: .init(http: .lasting())))
        // The request to the target may begin before the connection has closed.
        let answer = await plugin.request("GET", server.url)
        #expect(answer.code == 500 && answer.fields["x"] == nil, "\(answer.message)")
        await server.stop()
    }
}

/// A server that answers all requests but the first with 500, and speaks when it is told to.
private final class TalkativeServer: Sendable {
    /// Counts requests, and knows the first connection.
    private final class Accepted: Sendable {
        let requests = Atomic(0)
        let first = OneShot<any NIOCore.Channel>()
    }

    private let listener: any NIOCore.Channel
    private let accepted: Accepted

    /// - Parameters:
    ///   - status: The status of the first answer, and fields.
    ///   - bytes: What comes with it.
    init(answering status: String = "200 OK", adding bytes: String) async throws {
        let accepted = Accepted()
        self.accepted = accepted
        listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.first.send(channel)
                return channel.eventLoop.makeCompletedFuture {
                    let handler = Handler {
                        accepted.requests.add(1, ordering: .relaxed).newValue == 1
                            ? "HTTP/1.1 \(status)\r\nContent-Length: 0\r\n\r\n\(bytes)"
                            : "HTTP/1.1 500 Error\r\nContent-Length: 0\r\n\r\n"
                    }
                    try channel.pipeline.syncOperations.addHandler(handler)
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
    }

    var url: String { "http://127.0.0.1:\(listener.localAddress?.port ?? 0)/" }

    /// Sends a text over the first connection, and waits until that has closed.
    func speak(_ text: String) async throws {
        let channel = await accepted.first.wait()
        channel.writeAndFlush(ByteBuffer(string: text), promise: nil)
        try await channel.closeFuture.get()
    }

    func stop() async { try? await listener.close() }

    private final class Handler: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private let answer: () -> String

        init(_ answer: @escaping () -> String) {
            self.answer = answer
        }

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            guard String(buffer: unwrapInboundIn(data)).contains(" HTTP/1.1") else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: answer())), promise: nil)
        }
    }
}
