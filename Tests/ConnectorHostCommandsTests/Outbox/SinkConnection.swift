// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import NIOCore
import NIOHTTP1

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// One connection to a sink.
final class SinkConnection: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = ByteBuffer

    private let sink: Sink
    private var head: HTTPRequestHead?
    private var body: [UInt8] = []

    init(_ sink: Sink) {
        self.sink = sink
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            self.head = head
            body = []
            if head.uri == "/v1/batch", head.headers.contains(name: "Content-Encoding") { sink.reached(.began) }
        case .body(let bytes): body += bytes.readableBytesView
        case .end: answer(context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }

    private func answer(_ context: ChannelHandlerContext) {
        let isPacked = head?.headers.contains(name: "Content-Encoding") ?? false
        let text = isPacked ? try? ContentCoding.gzip.decode(body, limit: 10_000_000) : body
        let events = text.flatMap { try? JSONValue(parsing: $0, file: "") }?["batch"]?.array ?? []
        // What opens the gate: the settings of the source, and an empty batch.
        guard head?.uri == "/v1/batch" else { return write(context, "404 Not Found", "{}") }
        guard !events.isEmpty else { return write(context, "400 Bad Request", #"{"success":false}"#) }
        let answer = sink.take(events, key: head?.headers.first(name: "Authorization") ?? "")
        sink.reached(.read)
        switch answer {
        case .takes: write(context, "200 OK", #"{"success":true}"#)
        case .slow:
            let bound = NIOLoopBound((self, context), eventLoop: context.eventLoop)
            context.eventLoop.scheduleTask(in: .milliseconds(50)) {
                let (handler, context) = bound.value
                handler.write(context, "200 OK", #"{"success":true}"#)
            }
        case .lost: context.close(promise: nil)
        case .away: write(context, "503 Service Unavailable", "busy")
        case .limits: write(context, "429 Too Many Requests", "{}", fields: "Retry-After: 1\r\n")
        case .refuses: write(context, "400 Bad Request", #"{"success":false,"message":"bad event"}"#)
        case .unauthorized: write(context, "401 Unauthorized", #"{"message":"wrong key"}"#)
        case .forbidden: write(context, "403 Forbidden", #"{"message":"not with this key"}"#)
        case .absent: write(context, "404 Not Found", #"{"message":"no such source"}"#)
        case .reset:
            // A connection that is closed with this option is reset.
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            let resets = (context.channel as? any SocketOptionProvider)?.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            resets?.whenComplete { _ in bound.value.close(promise: nil) }
        case .garbage:
            send(context, "\u{0}\u{1}this is not HTTP\r\n\r\n")
            context.close(promise: nil)
        case .page: write(context, "200 OK", "<!doctype html><title>Sign in to the network</title>", type: "text/html")
        }
        sink.reached(.answered)
    }

    private func write(
        _ context: ChannelHandlerContext,
        _ status: String,
        _ body: String,
        type: String = "application/json",
        fields: String = ""
    ) {
        send(
            context,
            "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        )
    }

    private func send(_ context: ChannelHandlerContext, _ text: String) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
    }
}
