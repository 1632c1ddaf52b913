// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import NIOCore

/// One client's connection: one request at a time, from its first byte to the last byte of its answer.
///
/// It asks the socket for bytes only while it awaits a request or a body, so that a client that sends many requests and reads no
/// answers waits in its own kernel. What was read ahead is at most ``ServerLimits/readSize``. The time for a request begins with the
/// connection and again after every answer; each part of an answer has its own.
final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
    /// Bytes come in, decrypted.
    typealias InboundIn = ByteBuffer
    /// Bytes go out.
    typealias OutboundOut = ByteBuffer

    /// What the connection is at.
    enum Phase: Hashable {
        /// A request is awaited, or its body.
        case reading
        /// The host makes the answer.
        case working
        /// An answer goes out.
        case answering
        /// A stream goes out, for as long as it takes.
        case streaming
        /// The last answer went out; what still comes in is discarded, so that the client reads the answer before the end.
        case discarding
        /// The connection has ended.
        case ended
    }

    /// A request whose body is being read.
    private struct Collection {
        var request: ServerRequest
        var admission: RequestAdmission
    }

    /// What all connections of the server share.
    let shared: SharedServerState
    /// What the connection is at.
    var phase = Phase.reading
    /// The channel's side; nil once the handler was removed.
    var context: ChannelHandlerContext?
    /// Finds requests in what was read.
    var parser: RequestParser
    /// What was read ahead.
    var input = ByteBuffer()
    private var collection: Collection?
    /// When the client's time is over; nil while it has nothing to do.
    var deadline: NIODeadline?
    /// Looks at the deadline.
    var timer: Scheduled<Void>?
    /// What the host does for the client.
    var task: Task<Void, Never>?
    private var peer = ""
    /// The requests that were answered at once since the last turn, or the last bytes.
    private var burst = 0
    private var awaitsTurn = false
    /// Whether ``advance(_:)`` is on the stack.
    var isAdvancing = false
    private var isReadingBodies = false
    /// Whether the connection ends after the answer that is under way.
    var isQuiescing = false
    /// Whether the stream that goes out comes in chunks.
    var isChunked = false
    private var discarded = 0
    /// What has yet to be written of an answer's head.
    var output = ByteBuffer()
    /// What has yet to be written of its body.
    var content: ArraySlice<UInt8> = []

    /// Prepares a connection of a server.
    init(_ shared: SharedServerState) {
        self.shared = shared
        parser = RequestParser(shared.limits)
    }

    // MARK: Events of the channel

    /// Begins at once if the channel was open before.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(context) }
    }

    /// Ends with the pipeline.
    func handlerRemoved(context: ChannelHandlerContext) {
        end(context)
        self.context = nil
    }

    /// Begins with the connection.
    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    /// Ends with the connection, which cancels what was asked through it.
    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    /// Takes bytes on.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch phase {
        case .ended: return
        case .discarding:
            discarded += bytes.readableBytes
            if discarded > shared.limits.discarded { context.close(promise: nil) }
        default:
            // More than was asked for comes only from a client that has ended its side.
            let limit = shared.limits.bodyReadSize * 2
            guard bytes.readableBytes <= limit - input.readableBytes else { return context.close(promise: nil) }
            if input.readableBytes == 0 {
                input = bytes
            } else {
                input.discardReadBytes()
                input.writeBuffer(&bytes)
            }
            burst = 0
            advance(context)
        }
    }

    /// Asks for more bytes, if some are missing.
    func channelReadComplete(context: ChannelHandlerContext) {
        readMore(context)
        context.fireChannelReadComplete()
    }

    /// Ends the connection, which concerns only its client.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Ends the connection after the answer that is under way, or at once.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isQuiescing = true
            if phase == .reading, parser.isBetweenRequests, input.readableBytes == 0, collection == nil {
                return context.close(promise: nil)
            }
        }
        context.fireUserInboundEventTriggered(event)
    }

    private func begin(_ context: ChannelHandlerContext) {
        peer = ServerRequest.peer(context.channel.remoteAddress)
        guard shared.table.wait(context.channel) else { return context.close(promise: nil) }
        startTimer(context)
        context.read()
    }

    private func end(_ context: ChannelHandlerContext) {
        phase = .ended
        stopTimer()
        timer?.cancel()
        timer = nil
        task?.cancel()
        task = nil
        collection = nil
        input = ByteBuffer()
        output = ByteBuffer()
        content = []
        shared.table.leave(context.channel)
    }

    // MARK: Requests

    /// Asks for bytes, if some are missing.
    func readMore(_ context: ChannelHandlerContext) {
        if phase == .discarding || phase == .reading && !awaitsTurn { context.read() }
    }

    /// Goes on with what was sent ahead, for ``TurnQueue``.
    func takeTurn() {
        guard awaitsTurn, let context else { return }
        awaitsTurn = false
        burst = 0
        advance(context)
        readMore(context)
    }

    /// Reads what there is, until bytes are missing, an answer is under way, or others have their turn.
    func advance(_ context: ChannelHandlerContext) {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while phase == .reading, !awaitsTurn {
            guard burst < shared.limits.burst || input.readableBytes == 0 else {
                awaitsTurn = true
                return shared.turns(on: context.eventLoop).enqueue(self)
            }
            do throws(RequestFault) {
                guard let event = try parser.next(&input) else {
                    // Nothing is kept of a connection that is idle.
                    if input.readableBytes == 0 { input = ByteBuffer() }
                    return
                }
                take(event, context)
            } catch {
                collection = nil
                send(ServerResponse(error), to: ServerRequest("GET", ""), context)
            }
        }
    }

    private func take(_ event: RequestParser.Event, _ context: ChannelHandlerContext) {
        switch event {
        case .head(var request):
            burst += 1
            request.peer = peer
            admit(request, context)
        case .body(let bytes):
            guard let collection, case .read(let limit, let tooLarge, _) = collection.admission else { return }
            guard bytes.readableBytes <= limit - collection.request.body.count else {
                self.collection = nil
                return sendLast(tooLarge(), to: collection.request, context)
            }
            self.collection?.request.body += bytes.readableBytesView
        case .end:
            guard let collection = self.collection.take() else { return }
            readBodies(false, context)
            switch collection.admission {
            case .answer(let response): send(response, to: collection.request, context)
            case .read(_, _, let answer): work(collection.request, answer, context)
            }
        }
    }

    private func admit(_ request: ServerRequest, _ context: ChannelHandlerContext) {
        let admission = shared.admit(request)
        collection = Collection(request: request, admission: admission)
        guard request.hasBody else { return }
        switch admission {
        case .answer(let response):
            // The body is not worth reading.
            collection = nil
            sendLast(response, to: request, context)
        case .read(let limit, let tooLarge, _):
            if let length = request.fields["Content-Length"].flatMap({ Int($0) }), length > limit {
                collection = nil
                return sendLast(tooLarge(), to: request, context)
            }
            readBodies(true, context)
            if request.awaitsContinue {
                context.writeAndFlush(
                    wrapOutboundOut(ByteBuffer(string: "HTTP/1.1 100 Continue\r\n\r\n")),
                    promise: nil
                )
            }
        }
    }

    /// Reads larger pieces while a body is awaited.
    func readBodies(_ isReading: Bool, _ context: ChannelHandlerContext) {
        guard isReading != isReadingBodies else { return }
        isReadingBodies = isReading
        let size = isReading ? shared.limits.bodyReadSize : shared.limits.readSize
        try? context.channel.syncOptions?
            .setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
    }

    /// Lets the host make the answer, in a task that ends with the connection.
    private func work(
        _ request: ServerRequest,
        _ answer: @escaping @Sendable (ServerRequest) async -> ServerResponse,
        _ context: ChannelHandlerContext
    ) {
        guard shared.table.work(context.channel) else { return refuseWork(request, context) }
        phase = .working
        stopTimer()
        let promise = context.eventLoop.makePromise(of: ServerResponse.self)
        task = Task { promise.succeed(await answer(request)) }
        promise.futureResult.assumeIsolated().whenSuccess { [self] response in
            guard phase == .working, let context = self.context else { return }
            task = nil
            send(response, to: request, context)
        }
    }

    /// Refuses what the host would be at work for, when it is for too many already.
    func refuseWork(_ request: ServerRequest, _ context: ChannelHandlerContext) {
        var response = ServerResponse(RequestFault(503, "too much is asked at once"))
        response.fields.append("Retry-After", "1")
        send(response, to: request, context)
    }
}
