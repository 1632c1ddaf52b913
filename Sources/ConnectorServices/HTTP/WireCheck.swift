// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import AsyncHTTPClient
internal import ConnectorBase
internal import ConnectorInvocation
internal import NIOCore
internal import NIOHPACK
internal import NIOHTTP1
internal import NIOHTTP2
internal import NIOSSL

/// Ends what a server may not send, before AsyncHTTPClient would trap on it or wait forever on the connection, and passes on what
/// AsyncHTTPClient would lose.
enum WireCheck {
    /// A connection that had served a request closed before the answer to a later one began.
    struct StaleConnection: Error {
        /// How it closed.
        var cause: any Error
    }

    /// Makes every connection and every stream of a client check what it receives, and counts the connections, with their servers.
    ///
    /// - Parameters:
    ///   - scheme: The scheme of the client's URLs.
    ///   - address: The address that the client connects to; nil if it looks names up.
    static func install(
        in configuration: inout HTTPClient.Configuration,
        counting connections: GateConnections,
        scheme: String,
        address: String?
    ) {
        configuration.http1_1ConnectionDebugInitializer = { channel in
            connections.count(channel)
            return channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                let idle = IdleCheck()
                try pipeline.addHandler(idle, position: .before(decoder))
                try pipeline.addHandler(EarlyRefusalHandler(), position: .after(decoder))
                try pipeline.addHandler(ResponseCheck(idle), position: .after(decoder))
                let note = UseNote(connections, scheme: scheme, address: address)
                try pipeline.addHandler(note, position: .after(decoder))
            }
        }
        // The future is complete, and its event loop the client's. So the pool knows the connection before its next frame.
        configuration.http2ConnectionDebugInitializer = { channel in
            connections.count(channel)
            return channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let parser = try pipeline.handler(type: NIOHTTP2Handler.self)
                try pipeline.addHandler(ConnectionCheck(), position: .after(parser))
            }
        }
        configuration.http2StreamChannelDebugInitializer = { channel in
            channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandler(StreamStatusCheck(), position: .first)
                let codec = try pipeline.handler(type: HTTP2FramePayloadToHTTP1ClientCodec.self)
                try pipeline.addHandler(EarlyRefusalHandler(), position: .after(codec))
                if let connection = try channel.parent?.pipeline.syncOperations.handler(type: ConnectionCheck.self) {
                    try pipeline.addHandler(StreamEnd(connection), position: .after(codec))
                }
                let note = UseNote(connections, scheme: scheme, address: address)
                try pipeline.addHandler(note, position: .after(codec))
            }
        }
    }
}

/// Notes, with its first request, to which server a connection leads.
private final class UseNote: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let connections: GateConnections
    private let scheme: String
    private let address: String?
    private var isNoted = false

    init(_ connections: GateConnections, scheme: String, address: String?) {
        self.connections = connections
        self.scheme = scheme
        self.address = address
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if !isNoted, case .head(let head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") {
            isNoted = true
            // A stream of HTTP/2 stands for its connection.
            connections.use(context.channel.parent ?? context.channel, for: "\(scheme)://\(host)", at: address)
        }
        context.write(data, promise: promise)
    }
}

/// Closes a kept connection on which bytes follow a response before the next request (RFC 9112, section 9.2).
///
/// NIO's parser would keep the beginning of a response, and take the next answer for its rest. Line ends, which it skips, do no harm.
private final class IdleCheck: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Whether a response has ended, and no request has begun since.
    private var isIdle = false
    /// Whether a response has ended before the bytes that are still to be passed on.
    private var hasEnded = false
    /// Whether the connection is being closed because of such bytes.
    private(set) var isBroken = false

    /// Notes that a request begins.
    func begin() {
        isIdle = false
    }

    /// Notes that a response has ended.
    func end() {
        (isIdle, hasEnded) = (true, true)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        var bytes = unwrapInboundIn(data)
        let view = bytes.readableBytesView
        guard let last = view.lastIndex(where: { !"\r\n".utf8.contains($0) }) else {
            return context.fireChannelRead(data)
        }
        hasEnded = isIdle
        // The parser takes everything that comes at once. Let it stop before the last byte: if the response has ended by then, that byte
        // is no part of it, even if the next request has begun meanwhile.
        if !hasEnded, let first = bytes.readSlice(length: last - view.startIndex), first.readableBytes > 0 {
            context.fireChannelRead(wrapInboundOut(first))
        }
        guard hasEnded else { return context.fireChannelRead(wrapInboundOut(bytes)) }
        isBroken = true
        // The handlers before this one are in the middle of a read.
        context.eventLoop.assumeIsolated().execute { context.closeAtOnce() }
    }
}

extension ChannelHandlerContext {
    /// Closes the connection without the end of TLS, which would wait for the server's close_notify: the requests that follow must not get
    /// this connection.
    fileprivate func closeAtOnce() {
        let secure = try? pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
        (secure ?? self).close(mode: .all, promise: nil)
    }
}

/// The check of a connection of HTTP/1.1.
///
/// Refuses a status that RFC 9110, section 15, does not know: AsyncHTTPClient takes any below 200 for interim, and traps when such a
/// response goes on or ends. Says so if the connection closes under a request after the first. Lets a response end before its request
/// fails, if the server needs no more of the request's body. Merges chunks that arrive together: AsyncHTTPClient would lose all but the
/// first if the connection then broke.
private final class ResponseCheck: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let idle: IdleCheck
    private var isRefused = false
    private var isReused = false
    /// Whether the head of a request is sent, and none of its response has come.
    private var isWaiting = false
    private var hasAnswered = false
    /// Whether the end of a response is being passed on.
    private var isEnding = false
    /// The bytes of a body that have arrived together, until they are passed on.
    private var body: ByteBuffer?

    init(_ idle: IdleCheck) {
        self.idle = idle
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
            idle.begin()
            isReused = hasAnswered
            isWaiting = true
            context.write(data, promise: promise)
        case .body: context.write(data, promise: promise)
        case .end: context.write(data, promise: promise.map { patient($0, context.eventLoop) })
        }
    }

    /// A promise for the end of a request, which fails another one only after the end of the response.
    ///
    /// At that end, AsyncHTTPClient may close the connection before it passes the end on. If the end of the request is still to be sent,
    /// that fails the request, and its response would be lost.
    private func patient(_ promise: EventLoopPromise<Void>, _ loop: any EventLoop) -> EventLoopPromise<Void> {
        let sent = loop.makePromise(of: Void.self)
        sent.futureResult.assumeIsolated().whenComplete { result in
            switch result {
            case .success: promise.succeed()
            case .failure(let error) where self.isEnding: loop.execute { promise.fail(error) }
            case .failure(let error): promise.fail(error)
            }
        }
        return sent
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        switch unwrapInboundIn(data) {
        case .head(let head):
            (isWaiting, hasAnswered) = (false, true)
            if let breach = Self.breach(in: head) {
                isRefused = true
                return context.fireErrorCaught(breach)
            }
            context.fireChannelRead(data)
        case .body(let part):
            if body == nil { body = part } else { body?.writeImmutableBuffer(part) }
        case .end:
            passBody(context)
            // With its end, the next request may begin.
            idle.end()
            isEnding = true
            context.fireChannelRead(data)
            isEnding = false
        }
    }

    /// What is wrong with the head of a response: its status, or a coding that no request has allowed (RFC 9112, section 7.4), and that
    /// nothing would undo.
    private static func breach(in head: HTTPResponseHead) -> (any Error)? {
        if head.status.code < 100 { return HTTPParserError.invalidStatus }
        let codings = head.headers[canonicalForm: "Transfer-Encoding"].map { $0.lowercased() }
        guard let coding = codings.first(where: { $0 != "chunked" && $0 != "identity" }) else { return nil }
        return ServiceFailure.violation(
            "the answer has the transfer coding \"\(coding.excerpt)\", which the request does not allow"
        )
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        passBody(context)
        context.fireChannelReadComplete()
    }

    private func passBody(_ context: ChannelHandlerContext) {
        guard let part = body.take() else { return }
        context.fireChannelRead(wrapInboundOut(.body(part)))
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        passBody(context)
        if isReused, isWaiting, isOfConnection(error) {
            context.fireErrorCaught(WireCheck.StaleConnection(cause: error))
        } else {
            context.fireErrorCaught(error)
        }
    }

    /// Whether an error says nothing of the answer to the request for which the connection was used again.
    ///
    /// That request may begin while the parser still has bytes that came with the end of the response before it. Then the parser's error
    /// is about them, and so is the end of the connection that ``IdleCheck`` closes.
    private func isOfConnection(_ error: any Error) -> Bool {
        error is IOError || idle.isBroken || (error as? NIOHTTPDecoderError) == .unsolicitedResponse
    }

    func channelInactive(context: ChannelHandlerContext) {
        passBody(context)
        if isReused, isWaiting {
            context.fireErrorCaught(WireCheck.StaleConnection(cause: HTTPClientError.remoteConnectionClosed))
        }
        context.fireChannelInactive()
    }
}

/// Puts an empty part before the end of a refusal that ends before its request.
///
/// AsyncHTTPClient passes on the end of a response with the part that comes with it. An end without a part would wait for the end of the
/// request, which it no longer sends.
private final class EarlyRefusalHandler: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Whether the head of a request is sent, and not its end.
    private var isSending = false
    /// Whether the response's status is not a success.
    private var isRefusal = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head: isSending = true
        case .body: break
        case .end: isSending = false
        }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): isRefusal = head.status.code >= 300
        case .body: break
        case .end: if isSending, isRefusal { context.fireChannelRead(wrapInboundOut(.body(ByteBuffer()))) }
        }
        context.fireChannelRead(data)
    }
}

/// The check of a connection of HTTP/2.
///
/// The parser reports an error of the connection and leaves it open, and AsyncHTTPClient keeps it, though nothing more comes over
/// it. Until the server acknowledges the settings, the parser also lets it push responses, whose streams AsyncHTTPClient counts as
/// requests, and traps. This handler closes the connection, and fails the requests on it with the reason.
///
/// AsyncHTTPClient learns that a connection has closed only after the requests on it have failed, and would send the repetition of one
/// over the same connection. This handler therefore reports the close first.
private final class ConnectionCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame
    typealias InboundOut = HTTP2Frame

    /// Whether a response has begun on the connection.
    var hasAnswered = false
    /// The last stream that the server serves; nil before it says so.
    private var lastStream: HTTP2StreamID?
    /// The streams of requests.
    private var streams: Set<HTTP2StreamID> = []
    private var isBroken = false
    /// Whether the streams know the reason.
    private var hasToldStreams = false
    private var isInactive = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isBroken else { return }
        switch unwrapInboundIn(data).payload {
        case .pushPromise: return end(by: NIOHTTP2Errors.pushInViolationOfSetting(), context)
        case .goAway(let last, _, _): lastStream = last
        default: break
        }
        context.fireChannelRead(data)
    }

    /// Whether the server has closed the connection for a stream without serving its request (RFC 9113, section 6.8).
    func refuses(_ stream: HTTP2StreamID) -> Bool { lastStream.map { stream > $0 } ?? false }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard !isBroken else { return }
        switch event {
        case let event as NIOHTTP2StreamCreatedEvent: streams.insert(event.streamID)
        case let event as StreamClosedEvent: streams.remove(event.streamID)
        default: break
        }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        if error is any NIOHTTP2Error, !Self.isOfOneStream(error) {
            end(by: error, context)
        } else {
            context.fireErrorCaught(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        // The streams would take it for the reason why they end.
        guard !isBroken || hasToldStreams else {
            isInactive = true
            return
        }
        let farewell = HTTP2Frame.FramePayload.goAway(lastStreamID: .maxID, errorCode: .noError, opaqueData: nil)
        context.fireChannelRead(wrapInboundOut(HTTP2Frame(streamID: .rootStream, payload: farewell)))
        context.fireChannelInactive()
    }

    private func end(by breach: any Error, _ context: ChannelHandlerContext) {
        guard !isBroken else { return }
        isBroken = true
        // The handlers before this one are in the middle of a frame.
        context.eventLoop.assumeIsolated().execute {
            // Close first: the requests that follow a failure must find no connection.
            context.closeAtOnce()
            for stream in self.streams {
                context.fireErrorCaught(NIOHTTP2Errors.streamError(streamID: stream, baseError: breach))
            }
            self.hasToldStreams = true
            if self.isInactive { context.fireChannelInactive() }
        }
    }

    /// Whether an error concerns one stream, which the parser has already reset.
    private static func isOfOneStream(_ error: any Error) -> Bool {
        switch error {
        case is NIOHTTP2Errors.BadStreamStateTransition, is NIOHTTP2Errors.TrailersWithoutEndStream,
            is NIOHTTP2Errors.ContentLengthViolated, is NIOHTTP2Errors.ContentLengthHeadersMismatch,
            is NIOHTTP2Errors.ContentLengthHeaderNegative, is NIOHTTP2Errors.ContentLengthHeaderMalformedValue,
            is NIOHTTP2Errors.MissingPseudoHeader, is NIOHTTP2Errors.DuplicatePseudoHeader,
            is NIOHTTP2Errors.PseudoHeaderAfterRegularHeader, is NIOHTTP2Errors.UnknownPseudoHeader,
            is NIOHTTP2Errors.UnsupportedPseudoHeader, is NIOHTTP2Errors.InvalidPseudoHeaders,
            is NIOHTTP2Errors.InvalidPseudoHeaderValue, is NIOHTTP2Errors.InvalidHTTP2HeaderFieldName,
            is NIOHTTP2Errors.InvalidHTTP2HeaderFieldValue, is NIOHTTP2Errors.ForbiddenHeaderField,
            is NIOHTTP2Errors.InvalidStatusValue:
            true
        default: false
        }
    }
}

/// Says so if the connection of a stream had served a request, and closes before the answer on this stream begins.
private final class StreamEnd: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private let connection: ConnectionCheck
    /// Whether the head of the request is sent over a connection that had served another, and none of its response has come.
    private var isWaiting = false

    init(_ connection: ConnectionCheck) {
        self.connection = connection
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .head = unwrapOutboundIn(data) { isWaiting = connection.hasAnswered }
        context.write(data, promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        isWaiting = false
        connection.hasAnswered = true
        context.fireChannelRead(data)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        let refused = (error as? NIOHTTP2Errors.StreamClosed).map { connection.refuses($0.streamID) }
        let isStale = isWaiting && refused == true
        isWaiting = false
        if isStale {
            context.fireErrorCaught(WireCheck.StaleConnection(cause: error))
        } else {
            context.fireErrorCaught(error)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if isWaiting {
            context.fireErrorCaught(WireCheck.StaleConnection(cause: HTTPClientError.remoteConnectionClosed))
        }
        context.fireChannelInactive()
    }
}

/// The check of a stream of HTTP/2, where even the conversion to a response of HTTP/1.1 traps for a status that is not a three-digit
/// number.
private final class StreamStatusCheck: ChannelInboundHandler {
    typealias InboundIn = HTTP2Frame.FramePayload
    typealias InboundOut = HTTP2Frame.FramePayload

    private var isRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isRefused else { return }
        if case .headers(let content) = unwrapInboundIn(data), !content.headers[":status"].allSatisfy(isKnown) {
            isRefused = true
            return context.fireErrorCaught(HTTPParserError.invalidStatus)
        }
        context.fireChannelRead(data)
    }

    /// Three digits from 100; HTTP/2 has no 101 (RFC 9113, section 8.6), which would be a head before the head of the response.
    private func isKnown(_ status: String) -> Bool {
        guard status.utf8.count == 3, let code = UInt16(status) else { return false }
        return code >= 100 && code != 101
    }
}
