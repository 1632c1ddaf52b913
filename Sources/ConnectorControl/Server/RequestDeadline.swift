// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose client takes longer than it may: to send a whole request, or to take the answer.
///
/// The time begins with the connection and again with every answer, so that a client that sends a byte now and then gains
/// nothing.
final class RequestDeadline: ChannelDuplexHandler {
    /// Requests come in, and pass.
    typealias InboundIn = HTTPServerRequestPart
    /// Requests come in, and pass.
    typealias InboundOut = HTTPServerRequestPart
    /// Answers go out, and pass.
    typealias OutboundIn = HTTPServerResponsePart
    /// Answers go out, and pass.
    typealias OutboundOut = HTTPServerResponsePart

    private let patience: TimeAmount
    private var timer: Scheduled<Void>?

    /// Prepares the deadline of one connection.
    init(_ patience: TimeAmount) {
        self.patience = patience
    }

    /// Begins with the connection.
    func handlerAdded(context: ChannelHandlerContext) {
        begin(context)
    }

    /// Ends with the pipeline.
    func handlerRemoved(context: ChannelHandlerContext) {
        timer?.cancel()
    }

    /// Begins anew with the end of a request, for the answer.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) { begin(context) }
        context.fireChannelRead(data)
    }

    /// Begins anew with the end of an answer, for the next request.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { begin(context) }
        context.write(data, promise: promise)
    }

    /// Ends with the connection.
    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        context.fireChannelInactive()
    }

    /// Begins the time anew.
    private func begin(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let channel = context.channel
        timer = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    }
}
