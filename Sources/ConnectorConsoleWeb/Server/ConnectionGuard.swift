// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTPTypes
internal import Synchronization

/// The connections of a server: when there are too many, the one that has waited longest without a whole request makes room.
///
/// So clients that open connections and say nothing, however many, keep nobody out.
final class ConnectionTable: Sendable {
    private struct State {
        /// In the order in which they began to wait.
        var waiting: [(key: ObjectIdentifier, channel: any Channel)] = []
        var busy: Set<ObjectIdentifier> = []
    }

    private let limit: Int
    private let state = Mutex(State())

    /// Takes the most connections at once.
    init(limit: Int) {
        self.limit = limit
    }

    /// How many connections there are.
    var count: Int { state.withLock { $0.waiting.count + $0.busy.count } }

    /// Counts a connection in that has no request.
    func wait(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        let surplus = state.withLock { state -> (any Channel)? in
            state.busy.remove(key)
            state.waiting.removeAll { $0.key == key }
            state.waiting.append((key, channel))
            guard state.waiting.count + state.busy.count > limit else { return nil }
            return state.waiting.removeFirst().channel
        }
        surplus?.close(promise: nil)
    }

    /// Counts a connection in that has a request to be answered.
    func work(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { state in
            state.waiting.removeAll { $0.key == key }
            state.busy.insert(key)
        }
    }

    /// Counts a connection out.
    func leave(_ channel: any Channel) {
        let key = ObjectIdentifier(channel)
        state.withLock { state in
            state.waiting.removeAll { $0.key == key }
            state.busy.remove(key)
        }
    }
}

/// Closes a connection whose client takes longer than it may to send a whole request.
///
/// The time begins with the connection, and again with the end of every answer; a client that sends a byte now and then gains
/// nothing.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    /// Requests come in, and pass.
    typealias InboundIn = HTTPRequestPart
    /// Requests come in, and pass.
    typealias InboundOut = HTTPRequestPart
    /// Answers go out, and pass.
    typealias OutboundIn = HTTPResponsePart
    /// Answers go out, and pass.
    typealias OutboundOut = HTTPResponsePart

    private let table: ConnectionTable
    private let patience: TimeAmount
    private var timer: Scheduled<Void>?
    private var unanswered = 0

    /// Prepares the guard of one connection.
    init(_ table: ConnectionTable, patience: TimeAmount) {
        self.table = table
        self.patience = patience
    }

    /// Begins with the connection.
    func handlerAdded(context: ChannelHandlerContext) {
        wait(context)
    }

    /// Ends with the pipeline.
    func handlerRemoved(context: ChannelHandlerContext) {
        end(context)
    }

    /// Stops the time with the end of a request.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        if case .end = unwrapInboundIn(data) {
            unanswered += 1
            timer?.cancel()
            timer = nil
            table.work(context.channel)
        }
        context.fireChannelRead(data)
    }

    /// Begins anew with the end of an answer, for the next request.
    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) {
            unanswered = max(0, unanswered - 1)
            if unanswered == 0 { wait(context) }
        }
        context.write(data, promise: promise)
    }

    /// Ends with the connection.
    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    private func wait(_ context: ChannelHandlerContext) {
        timer?.cancel()
        let channel = context.channel
        table.wait(channel)
        timer = context.eventLoop.scheduleTask(in: patience) { channel.close(promise: nil) }
    }

    private func end(_ context: ChannelHandlerContext) {
        timer?.cancel()
        timer = nil
        table.leave(context.channel)
    }
}
