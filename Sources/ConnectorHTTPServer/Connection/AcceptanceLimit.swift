// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore

/// Accepts no more connections while too many are open, so that a flood of them never takes all descriptors of the process: those that
/// make room for others must have closed. Used only on the listener's event loop.
final class AcceptanceLimit: ChannelDuplexHandler {
    /// An accepted connection.
    typealias InboundIn = any Channel
    /// An accepted connection.
    typealias InboundOut = any Channel
    /// A listener writes nothing.
    typealias OutboundIn = Never

    private let limit: Int
    private var count = 0
    /// Whether a read waits until a connection has closed.
    private var isHeld = false
    private var context: ChannelHandlerContext?

    /// Creates the handler of a listener, which may have `limit` connections and those that it accepts at once.
    init(limit: Int) {
        self.limit = limit
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func read(context: ChannelHandlerContext) {
        isHeld = count >= limit
        if !isHeld { context.read() }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        count += 1
        let closed = unwrapInboundIn(data).closeFuture.hop(to: context.eventLoop)
        closed.assumeIsolated().whenComplete { [self] _ in
            count -= 1
            if isHeld, let context = self.context { read(context: context) }
        }
        context.fireChannelRead(data)
    }
}
