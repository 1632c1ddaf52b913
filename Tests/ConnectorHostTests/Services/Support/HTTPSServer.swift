// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOPosix
import NIOSSL
import Synchronization

/// A server on the loopback interface that speaks TLS, with a certificate for `localhost` from an authority of the tests, and
/// answers every request with the version of HTTP that it came in.
final class HTTPSServer: Sendable {
    /// The file of the authority.
    static let authority = "\(Fixtures.certificates)/authority.pem"

    /// Where it listens.
    let port: Int
    private let channel: any Channel
    private let accepted: Accepted

    /// Counts connections.
    private final class Accepted: Sendable {
        let count = Atomic(0)
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - protocols: What it offers to speak, in its order.
    ///   - isProxied: Whether each connection begins with a request for a tunnel, as a proxy gets it; it leads here.
    init(protocols: [String] = ["h2", "http/1.1"], isProxied: Bool = false) async throws {
        var security = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile("\(Fixtures.certificates)/localhost.pem")
                .map { .certificate($0) },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(file: "\(Fixtures.certificates)/localhost.key.pem", format: .pem)
            )
        )
        security.applicationProtocols = protocols
        let context = try NIOSSLContext(configuration: security)
        let accepted = Accepted()
        self.accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                accepted.count.add(1, ordering: .relaxed)
                return isProxied
                    ? channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(TunnelHandler { Self.secure(channel, context) })
                    } : Self.secure(channel, context)
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    /// How many connections there were.
    var connectionCount: Int { accepted.count.load(ordering: .relaxed) }

    /// Listens no longer.
    func stop() async { try? await channel.close() }

    private static func secure(_ channel: any Channel, _ context: NIOSSLContext) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }.flatMap {
            channel.configureCommonHTTPServerPipeline { stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandler(VersionHandler())
                }
            }
        }
    }
}

extension Fixtures {
    /// Certificates and a key that everybody knows.
    static let certificates = "\(sources)/certificates"
}

/// Answers a request with its version.
private final class VersionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private var version = HTTPVersion.http1_1

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): version = head.version
        case .body: break
        case .end:
            let body = ByteBuffer(string: "\(version)")
            let fields: HTTPHeaders = ["content-length": "\(body.readableBytes)"]
            let head = HTTPResponseHead(version: version, status: .ok, headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Grants the tunnel that a request asks for, and leaves.
private final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let follow: () -> EventLoopFuture<Void>
    private var head = ""

    /// - Parameter follow: Sets up what speaks through the tunnel.
    init(_ follow: @escaping () -> EventLoopFuture<Void>) {
        self.follow = follow
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += String(buffer: unwrapInboundIn(data))
        // The client speaks no further before it has the answer.
        guard head.hasPrefix("CONNECT localhost:443 "), head.hasSuffix("\r\n\r\n") else { return }
        _ = follow()
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n")), promise: nil)
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }
}
