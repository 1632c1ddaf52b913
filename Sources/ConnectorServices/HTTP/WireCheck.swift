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
    /// - Parameter scheme: The scheme of the client's URLs.
    static func install(
        in configuration: inout HTTPClient.Configuration,
        counting connections: GateConnections,
        scheme: String
    ) {
        configuration.http1_1ConnectionDebugInitializer = { channel in
            connections.count(channel)
            return channel.eventLoop.makeCompletedFuture {
                let pipeline = channel.pipeline.syncOperations
                let decoder = try pipeline.handler(type: ByteToMessageHandler<HTTPResponseDecoder>.self)
                try pipeline.addHandler(EarlyEnd(), position: .after(decoder))
                try pipeline.addHandler(ResponseCheck(), position: .after(decoder))
                try pipeline.addHandler(UseNote(connections, scheme: scheme), position: .after(decoder))
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
                try pipeline.addHandler(EarlyEnd(), position: .after(codec))
                if let connection = try channel.parent?.pipeline.syncOperations.handler(type: ConnectionCheck.self) {
                    try pipeline.addHandler(StreamEnd(connection), position: .after(codec))
                }
                try pipeline.addHandler(UseNote(connections, scheme: scheme), position: .after(codec))
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
    private var isNoted = false

    init(_ connections: GateConnections, scheme: String) {
        self.connections = connections
        self.scheme = scheme
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if !isNoted, case .head(let head) = unwrapOutboundIn(data), let host = head.headers.first(name: "Host") {
            isNoted = true
            // A stream of HTTP/2 stands for its connection.
            connections.use(context.channel.parent ?? context.channel, for: "\(scheme)://\(host)")
        }
        context.write(data, promise: promise)
    }
}

/// The check of a connection of HTTP/1.1.
///
/// Refuses a status that RFC 9110, section 15, does not know: AsyncHTTPClient takes any below 200 for interim, and traps when such a
/// response goes on or ends. Says so if the connection closes under a request after the first. Lets a response end before its request
/// fails, if the server needs no more of the request's body. Makes one part of the chunks that arrive together: of several, AsyncHTTPClient
/// would lose all but the first if the connection then broke.
private final class ResponseCheck: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    private var isRefused = false
    private var isReused = false
    /// Whether the head of a request is sent, and none of its response has come.
    private var isWaiting = false
    private var hasAnswered = false
    /// Whether the end of a response is being passed on.
    private var isEnding = false
    /// The bytes of a body that have arrived together, until they are passed on.
    private var body: ByteBuffer?

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head:
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
        if isReused, isWaiting, error is IOError {
            context.fireErrorCaught(WireCheck.StaleConnection(cause: error))
        } else {
            context.fireErrorCaught(error)
        }
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
private final class EarlyEnd: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias InboundOut = HTTPClientResponsePart
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    /// Whether the head of a request is sent, and not its end.
    private var isSending = false
    /// Whether the response is none of success.
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
/// The parser reports an error of the connection and leaves it open, and AsyncHTTPClient keeps it, though nothing comes over it any
/// more. Until the server acknowledges the settings, the parser also lets it push responses, whose streams AsyncHTTPClient counts as
/// requests, and traps. This handler closes the connection, and fails the requests on it with the reason.
///
/// AsyncHTTPClient learns that a connection has closed only after the requests on it have failed, and would send the repetition of one
/// over the same connection. This handler therefore tells it before.
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
            // Close first, and without TLS, which would wait for the server's farewell: the requests that follow a failure must find
            // no connection.
            let secure = try? context.pipeline.syncOperations.context(handlerType: NIOSSLClientHandler.self)
            (secure ?? context).close(mode: .all, promise: nil)
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

/// The check of a stream of HTTP/2, where even the conversion to a response of HTTP/1.1 traps for a status that is no small number.
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
