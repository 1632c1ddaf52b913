// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1

/// Closes a connection whose client is too slow: to send a whole request, or to take what was written to it.
///
/// The time for a request begins with the connection and again with every answer, so that a client that sends a byte now and
/// then gains nothing. How long the host itself may take, its endpoints decide.
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
    /// Whether the host has yet to answer.
    private var isAnswering = false
    /// How much the client has not taken yet.
    private var pending = 0

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

    /// Ends with the end of a request.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            isAnswering = true
            timer?.cancel()
        }
        context.fireChannelRead(data)
    }

    /// Begins with what the client has to take, and after the end of an answer for the next request.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { isAnswering = false }
        pending += 1
        begin(context)
        let promise = promise ?? context.eventLoop.makePromise()
        promise.futureResult.assumeIsolated().whenComplete { [self] _ in
            pending -= 1
            if isAnswering, pending == 0 { timer?.cancel() }
        }
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
