// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// Serves the API on the socket of a state directory, over HTTP/1.1.
///
/// Whoever may open the socket is this user, or root. The limits keep a client's mistake from costing the host more than
/// a few connections and some kilobytes.
package final class ControlServer: Sendable {
    /// The most connections at once; further ones are closed at once.
    package static let connectionLimit = 64
    /// The longest wait for a whole request, and for a client to take a part of the answer.
    private static let patience = TimeAmount.seconds(10)
    /// The most bytes of all header fields.
    private static let headerLimit = 16 << 10

    /// A connection, request by request.
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let api: ControlAPI
    private let socket: ControlSocket
    private let state = Mutex(State())

    private struct State {
        var listener: (any Channel)?
        var connections: [ObjectIdentifier: any Channel] = [:]
        var isStopped = false
    }

    /// Prepares to serve on a bound socket.
    package init(_ api: ControlAPI, on socket: ControlSocket) {
        self.api = api
        self.socket = socket
    }

    /// Serves until ``stop()``.
    ///
    /// - Throws: The system's error if the socket cannot be listened on.
    @concurrent
    package func run() async throws {
        defer { socket.remove() }
        let patience = Self.patience
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: ControlSocket.backlog)
            .bind(socket.descriptor) { channel in
                channel.eventLoop.makeCompletedFuture {
                    var limits = NIOHTTPDecoderLimitConfiguration()
                    limits.maxHeaderListSize = Self.headerLimit
                    limits.maxHeaderFieldSize = Self.headerLimit
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.configureHTTPServerPipeline(
                        withEncoderConfiguration: .init(),
                        withDecoderLimitConfiguration: limits
                    )
                    try pipeline.addHandler(RequestDeadline(patience))
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
        let isStopped = state.withLock { state -> Bool in
            state.listener = listener.channel
            return state.isStopped
        }
        if isStopped { listener.channel.close(promise: nil) }
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    // Counted here, in the order of arrival.
                    let isWanted = admit(connection.channel)
                    group.addTask { await self.serve(connection, isWanted: isWanted) }
                }
            }
        }
    }

    /// Stops listening, and closes every connection.
    package func stop() {
        let (listener, connections) = state.withLock { state in
            state.isStopped = true
            return (state.listener, Array(state.connections.values))
        }
        listener?.close(promise: nil)
        for connection in connections { connection.close(promise: nil) }
    }

    /// Counts a connection in; false if there are too many.
    private func admit(_ channel: any Channel) -> Bool {
        state.withLock { state in
            guard !state.isStopped, state.connections.count < Self.connectionLimit else { return false }
            state.connections[ObjectIdentifier(channel)] = channel
            return true
        }
    }

    /// Serves a connection until it ends, which cancels what was asked through it.
    private func serve(_ connection: Connection, isWanted: Bool) async {
        let channel = connection.channel
        defer { _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(channel)) } }
        // A broken connection concerns only its client, which sees the break.
        let serving = Task { try? await answer(connection, isWanted: isWanted) }
        channel.closeFuture.whenComplete { _ in serving.cancel() }
        _ = await serving.value
    }

    @concurrent
    private func answer(_ connection: Connection, isWanted: Bool) async throws {
        try await connection.executeThenClose { requests, answers in
            guard isWanted else { return }
            var parts = requests.makeAsyncIterator()
            while case .head(let head)? = try await parts.next() {
                let body = try await Self.body(&parts)
                let answer = if let body { await api.respond(ControlRequest(head, body)) } else { Self.tooLarge }
                // A client of HTTP/1.0 knows no chunks: for it the end of the connection is that of a stream.
                let isUnframed = answer.stream != nil && head.version == .http1_0
                let isLast = body == nil || !head.isKeepAlive || isUnframed
                var answerHead = Self.head(of: answer, isLast: isLast)
                if isUnframed { answerHead.version = .http1_0 }
                try await answers.write(.head(answerHead))
                if head.method != .HEAD {
                    if !answer.body.isEmpty {
                        try await answers.write(.body(.byteBuffer(ByteBuffer(bytes: answer.body))))
                    }
                    if let stream = answer.stream {
                        for await part in stream {
                            try await answers.write(.body(.byteBuffer(ByteBuffer(bytes: part))))
                        }
                    }
                }
                try await answers.write(.end(nil))
                if isLast { return }
            }
        }
    }

    /// Reads a body.
    ///
    /// - Returns: Nil as soon as it exceeds the limit.
    private static func body(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> [UInt8]? {
        var body: [UInt8] = []
        while case .body(let bytes)? = try await parts.next(isolation: #isolation) {
            guard body.count + bytes.readableBytes <= ControlAPI.bodyLimit else { return nil }
            body += bytes.readableBytesView
        }
        return body
    }

    private static var tooLarge: ControlResponse {
        ControlResponse(ConnectorError(.tooLarge, "a body has at most \(ControlAPI.bodyLimit >> 10) KiB"), status: 413)
    }

    private static func head(of answer: ControlResponse, isLast: Bool) -> HTTPResponseHead {
        var headers: HTTPHeaders = ["Cache-Control": "no-store"]
        if answer.status != 204 { headers.add(name: "Content-Type", value: answer.contentType) }
        // A stream comes in chunks; what has no body at all says nothing of its length.
        if answer.stream == nil, answer.status != 204 {
            headers.add(name: "Content-Length", value: "\(answer.body.count)")
        }
        if let allow = answer.allow { headers.add(name: "Allow", value: allow) }
        if isLast { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
    }
}

extension ControlRequest {
    /// Takes a request's head, and its body.
    fileprivate init(_ head: HTTPRequestHead, _ body: [UInt8]) {
        self.init(
            head.method.rawValue,
            head.uri,
            contentType: head.headers.first(name: "Content-Type"),
            accept: head.headers.first(name: "Accept"),
            body: body
        )
    }
}
