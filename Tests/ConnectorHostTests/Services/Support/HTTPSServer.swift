// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOHPACK
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

    /// Counts connections, and requests.
    private final class Accepted: Sendable {
        let count = Atomic(0)
        let requests = Atomic(0)
    }

    /// Listens.
    ///
    /// - Parameters:
    ///   - protocols: What it offers to speak, in its order.
    ///   - newest: The newest version of TLS that it speaks; nil for all.
    ///   - statuses: The statuses of the answers to each request of version 2, as they are sent; nil to answer as usual.
    ///   - frames: The frames that answer each request of version 2, by the number of the connection, from 1; nil for one that says
    ///     nothing at all.
    ///   - laterFrames: The frames that answer the second request of a connection, and those after it, where `frames` answer the first;
    ///     nil to answer all alike.
    ///   - unanswered: The number of the request of version 2, from 1, whose connection closes instead of an answer; nil for none.
    ///   - isProxied: Whether each connection begins with a request for a tunnel, as a proxy gets it; it leads here.
    init(
        protocols: [String] = ["h2", "http/1.1"],
        newest: TLSVersion? = nil,
        statuses: [String]? = nil,
        frames: (@Sendable (_ connection: Int) -> [UInt8]?)? = nil,
        laterFrames: [UInt8]? = nil,
        unanswered: Int? = nil,
        isProxied: Bool = false
    ) async throws {
        var security = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile("\(Fixtures.certificates)/localhost.pem")
                .map { .certificate($0) },
            privateKey: .privateKey(
                try NIOSSLPrivateKey(file: "\(Fixtures.certificates)/localhost.key.pem", format: .pem)
            )
        )
        security.applicationProtocols = protocols
        security.maximumTLSVersion = newest
        let context = try NIOSSLContext(configuration: security)
        let accepted = Accepted()
        self.accepted = accepted
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                let number = accepted.count.add(1, ordering: .relaxed).newValue
                if let frames { return Self.secure(channel, context, frames: frames(number), laterFrames) }
                let version: @Sendable () -> VersionHandler = {
                    VersionHandler { accepted.requests.add(1, ordering: .relaxed).newValue != unanswered }
                }
                return isProxied
                    ? channel.eventLoop.makeCompletedFuture {
                        try channel.pipeline.syncOperations.addHandler(
                            TunnelHandler { Self.secure(channel, context, statuses, version) }
                        )
                    } : Self.secure(channel, context, statuses, version)
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    /// How many connections there were.
    var connectionCount: Int { accepted.count.load(ordering: .relaxed) }

    /// Listens no longer.
    func stop() async { try? await channel.close() }

    private static func secure(
        _ channel: any Channel,
        _ context: NIOSSLContext,
        frames: [UInt8]?,
        _ laterFrames: [UInt8]?
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
            try channel.pipeline.syncOperations.addHandler(FrameHandler(frames, laterFrames))
        }
    }

    private static func secure(
        _ channel: any Channel,
        _ context: NIOSSLContext,
        _ statuses: [String]?,
        _ version: @escaping @Sendable () -> VersionHandler
    ) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
        }.flatMap {
            channel.configureCommonHTTPServerPipeline { stream in
                stream.eventLoop.makeCompletedFuture {
                    let pipeline = stream.pipeline.syncOperations
                    if let statuses {
                        try pipeline.addHandler(StatusHandler(statuses), position: .first)
                    } else {
                        try pipeline.addHandler(version())
                    }
                }
            }
        }
    }
}

extension Fixtures {
    /// Certificates and a key that everybody knows.
    static let certificates = "\(sources)/certificates"
}

/// Answers a request with its version, or closes its connection.
private final class VersionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let mayAnswer: () -> Bool
    private var version = HTTPVersion.http1_1

    /// - Parameter mayAnswer: Whether to answer a request. A connection that closes instead is one of version 2.
    init(_ mayAnswer: @escaping () -> Bool) {
        self.mayAnswer = mayAnswer
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): version = head.version
        case .body: break
        case .end:
            guard mayAnswer() else {
                context.channel.parent?.close(promise: nil)
                return
            }
            let body = ByteBuffer(string: "\(version)")
            let fields: HTTPHeaders = ["content-length": "\(body.readableBytes)"]
            let head = HTTPResponseHead(version: version, status: .ok, headers: fields)
            context.write(wrapOutboundOut(.head(head)), promise: nil)
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil)
            context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        }
    }
}

/// Answers a request of version 2 with statuses of which the rest of the server knows nothing.
private final class StatusHandler: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias OutboundOut = HTTP2Frame.FramePayload

    private let statuses: [String]

    init(_ statuses: [String]) {
        self.statuses = statuses
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .headers = unwrapInboundIn(data) else { return }
        for (index, status) in statuses.enumerated() {
            let headers = HPACKHeaders([(":status", status)])
            let isLast = index == statuses.count - 1
            context.writeAndFlush(wrapOutboundOut(.headers(.init(headers: headers, endStream: isLast))), promise: nil)
        }
    }
}

/// Speaks version 2 of HTTP by hand: it never acknowledges settings, and answers the requests with frames that are given.
private final class FrameHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private var answer: [UInt8]?
    private let later: [UInt8]?
    private var input: [UInt8] = []
    private var hasBegun = false

    /// - Parameters:
    ///   - answer: The answer to the first request; nil to say nothing at all.
    ///   - later: The answer to each later request; nil for the same.
    init(_ answer: [UInt8]?, _ later: [UInt8]?) {
        self.answer = answer
        self.later = later
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard answer != nil else { return }
        input += Array(unwrapInboundIn(data).readableBytesView)
        if !hasBegun {
            // "PRI * HTTP/2.0" and two empty lines.
            guard input.count >= 24 else { return }
            input.removeFirst(24)
            hasBegun = true
            write([0, 0, 0, 4, 0, 0, 0, 0, 0], context)
        }
        while input.count >= 9 {
            let length = Int(input[0]) << 16 | Int(input[1]) << 8 | Int(input[2])
            guard input.count >= 9 + length else { return }
            let isRequest = input[3] == 1
            input.removeFirst(9 + length)
            guard isRequest, let answer else { continue }
            write(answer, context)
            self.answer = later ?? answer
        }
    }

    private func write(_ bytes: [UInt8], _ context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
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
