// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import NIOCore

/// One client's connection: one request at a time, from its first byte to the last byte of its response.
///
/// It reads from the socket only while it awaits a request or a body, so TCP flow control holds back a client that sends many
/// requests and reads no responses. At most ``ServerLimits/readSize`` bytes are read ahead. The timeout of a request starts with
/// the connection and again after every response; each part of a response has a timeout of its own. Used only on its event loop.
final class HTTPConnection: ChannelInboundHandler, RemovableChannelHandler {
    /// Decrypted bytes from the client.
    typealias InboundIn = ByteBuffer
    /// Bytes to the client, before encryption.
    typealias OutboundOut = ByteBuffer

    /// The phase of a connection.
    enum Phase: Hashable {
        /// Awaiting a request or its body.
        case reading
        /// Awaiting the response, which a task makes.
        case working
        /// Writing a response.
        case answering
        /// Writing a stream, which has no time limit as a whole.
        case streaming
        /// The last response has been written; further input is discarded, so that the client can read the response.
        case discarding
        /// The connection has ended.
        case ended
    }

    /// A request whose body is being read.
    private struct Collection {
        var request: ServerRequest
        var admission: RequestAdmission
    }

    /// The state that all connections of the server share.
    let shared: SharedServerState
    /// The current phase.
    var phase = Phase.reading
    /// The context of the channel's pipeline; nil once the handler has been removed.
    var context: ChannelHandlerContext?
    /// Parses requests from the input.
    var parser: RequestParser
    /// Input that has not been parsed yet.
    var input = ByteBuffer()
    private var collection: Collection?
    /// When the client times out; nil while the server does not wait for it.
    var deadline: NIODeadline?
    /// Checks the deadline.
    var timer: Scheduled<Void>?
    /// The task that makes or writes the response.
    var task: Task<Void, Never>?
    private var peer = ""
    /// The number of requests handled since the connection was last resumed or received bytes.
    private var burst = 0
    /// Whether the connection waits in the ``PipelineQueue``.
    private var isQueued = false
    /// Whether ``advance(_:)`` is on the stack.
    var isAdvancing = false
    private var isReadingBodies = false
    /// Whether to close the connection after the current response.
    var isQuiescing = false
    /// Whether the current stream uses chunked encoding.
    var isChunked = false
    /// Whether the client has closed its side and sends nothing more.
    private(set) var isInputClosed = false
    /// Whether the request in progress changes nothing: GET or HEAD.
    private var isSafe = false
    private var discarded = 0
    /// The part of a response's head that is not written yet.
    var output = ByteBuffer()
    /// The part of the response's body that is not written yet.
    var content: ArraySlice<UInt8> = []

    /// Creates the handler of a connection.
    init(_ shared: SharedServerState) {
        self.shared = shared
        parser = RequestParser(shared.limits)
    }

    // MARK: Events of the channel

    /// Starts immediately if the channel is already active.
    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
        if context.channel.isActive { begin(context) }
    }

    /// Ends the connection.
    func handlerRemoved(context: ChannelHandlerContext) {
        end(context)
        self.context = nil
    }

    /// Starts the connection.
    func channelActive(context: ChannelHandlerContext) {
        begin(context)
        context.fireChannelActive()
    }

    /// Ends the connection and cancels the request in progress.
    func channelInactive(context: ChannelHandlerContext) {
        end(context)
        context.fireChannelInactive()
    }

    /// Receives bytes.
    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var bytes = unwrapInboundIn(data)
        switch phase {
        case .ended: return
        case .discarding:
            discarded += bytes.readableBytes
            if discarded > shared.limits.discarded { context.close(promise: nil) }
        default:
            // Bytes that were not requested arrive only when the client closes its side.
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

    /// Reads more bytes if the connection needs any.
    func channelReadComplete(context: ChannelHandlerContext) {
        readMore(context)
        context.fireChannelReadComplete()
    }

    /// Closes the connection; an error affects only its client.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Closes the connection, after the current response if there is one, on a graceful stop or once the client has closed its side.
    ///
    /// A stream may go on forever, so a graceful stop ends it.
    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if event is ChannelShouldQuiesceEvent {
            isQuiescing = true
            if phase == .reading, parser.isBetweenRequests, input.readableBytes == 0, collection == nil {
                return context.close(promise: nil)
            }
            if phase == .streaming { task?.cancel() }
        }
        if event as? ChannelEvent == .inputClosed { closeInput(context) }
        context.fireUserInboundEventTriggered(event)
    }

    /// Closes the connection, unless the client may still read a response.
    ///
    /// The client may also be gone, which only a write would reveal. Requests that change nothing are therefore answered; all others
    /// are cancelled.
    private func closeInput(_ context: ChannelHandlerContext) {
        isInputClosed = true
        switch phase {
        case .reading where isQueued, .working where isSafe, .answering: return
        default: context.close(promise: nil)
        }
    }

    private func begin(_ context: ChannelHandlerContext) {
        peer = ServerRequest.peer(context.channel.remoteAddress)
        guard shared.table.markIdle(context.channel) else { return context.close(promise: nil) }
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
        shared.table.remove(context.channel)
    }

    // MARK: Requests

    /// Reads more bytes if the connection needs any.
    func readMore(_ context: ChannelHandlerContext) {
        if phase == .discarding || phase == .reading && !isQueued { context.read() }
    }

    /// Continues with the pipelined requests; called by ``PipelineQueue``.
    func resume() {
        guard isQueued, let context else { return }
        isQueued = false
        burst = 0
        advance(context)
        readMore(context)
    }

    /// Handles the input until it is exhausted, a response is in progress, or the burst limit is reached.
    func advance(_ context: ChannelHandlerContext) {
        guard !isAdvancing else { return }
        isAdvancing = true
        defer { isAdvancing = false }
        while phase == .reading, !isQueued {
            guard burst < shared.limits.burst || input.readableBytes == 0 else {
                isQueued = true
                return shared.queue(on: context.eventLoop).enqueue(self)
            }
            do throws(RequestFault) {
                guard let event = try parser.next(&input) else {
                    // An idle connection holds no buffer.
                    if input.readableBytes == 0 { input = ByteBuffer() }
                    if isInputClosed { context.close(promise: nil) }
                    return
                }
                handle(event, context)
            } catch {
                collection = nil
                send(ServerResponse(error), to: ServerRequest("GET", ""), context)
            }
        }
    }

    private func handle(_ event: RequestParser.Event, _ context: ChannelHandlerContext) {
        switch event {
        case .head(var request):
            burst += 1
            request.peer = peer
            admit(request, context)
        case .body(let bytes):
            // Works on the collection in place: with a copy of it around, each part would copy the whole body.
            guard case .read(let limit, let tooLarge, _)? = collection?.admission,
                let count = collection?.request.body.count
            else { return }
            guard bytes.readableBytes <= limit - count else {
                guard let request = collection.take()?.request else { return }
                return sendLast(tooLarge(), to: request, context)
            }
            collection?.request.body += bytes.readableBytesView
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
            // The body is not needed, so close the connection instead of reading it.
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

    /// Sets the size of reads: larger while a body is awaited.
    func readBodies(_ isReading: Bool, _ context: ChannelHandlerContext) {
        guard isReading != isReadingBodies else { return }
        isReadingBodies = isReading
        let size = isReading ? shared.limits.bodyReadSize : shared.limits.readSize
        try? context.channel.syncOptions?
            .setOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: size))
    }

    /// Makes the response in a task that is cancelled with the connection.
    private func work(
        _ request: ServerRequest,
        _ answer: @escaping @Sendable (ServerRequest) async -> ServerResponse,
        _ context: ChannelHandlerContext
    ) {
        isSafe = ["GET", "HEAD"].contains(request.method)
        guard isSafe || !isInputClosed else { return context.close(promise: nil) }
        guard shared.table.markBusy(context.channel) else { return refuseWork(request, context) }
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

    /// Refuses a request with 503, because too many are in progress.
    func refuseWork(_ request: ServerRequest, _ context: ChannelHandlerContext) {
        var response = ServerResponse(RequestFault(503, "too many requests are in progress"))
        response.fields.append("Retry-After", "1")
        send(response, to: request, context)
    }
}
