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
    /// The longest wait for a whole request, and for a client to take the answer.
    private static let patience = TimeAmount.seconds(10)
    /// The most bytes of a body, which no endpoint reads.
    package static let bodyLimit = 64 << 10
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

    private func serve(_ connection: Connection, isWanted: Bool) async {
        let channel = connection.channel
        defer { _ = state.withLock { $0.connections.removeValue(forKey: ObjectIdentifier(channel)) } }
        // A broken connection concerns only its client, which sees the break.
        try? await connection.executeThenClose { requests, answers in
            guard isWanted else { return }
            var parts = requests.makeAsyncIterator()
            while case .head(let head)? = try await parts.next() {
                let isWhole = try await Self.skipBody(&parts)
                let answer = isWhole ? await api.respond(head.method.rawValue, head.uri) : Self.tooLarge
                let isLast = !isWhole || !head.isKeepAlive
                try await answers.write(.head(Self.head(of: answer, isLast: isLast)))
                if head.method != .HEAD { try await answers.write(.body(.byteBuffer(ByteBuffer(bytes: answer.body)))) }
                try await answers.write(.end(nil))
                if isLast { return }
            }
        }
    }

    /// Reads a body that nobody wants.
    ///
    /// - Returns: False as soon as it exceeds the limit.
    private static func skipBody(
        _ parts: inout NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator
    ) async throws -> Bool {
        var count = 0
        while case .body(let bytes)? = try await parts.next(isolation: #isolation) {
            count += bytes.readableBytes
            guard count <= bodyLimit else { return false }
        }
        return true
    }

    private static var tooLarge: ControlResponse {
        ControlResponse(ConnectorError(.tooLarge, "a body has at most \(bodyLimit >> 10) KiB"), status: 413)
    }

    private static func head(of answer: ControlResponse, isLast: Bool) -> HTTPResponseHead {
        var headers: HTTPHeaders = [
            "Content-Type": answer.contentType, "Content-Length": "\(answer.body.count)", "Cache-Control": "no-store",
        ]
        if let allow = answer.allow { headers.add(name: "Allow", value: allow) }
        if isLast { headers.add(name: "Connection", value: "close") }
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: answer.status),
            headers: headers
        )
    }
}
