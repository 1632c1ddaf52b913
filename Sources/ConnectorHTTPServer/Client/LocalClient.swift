// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// A client that makes one request to a server on this machine.
package struct LocalClient: Sendable {
    /// The server to connect to.
    package enum Endpoint: Sendable {
        /// A port of 127.0.0.1.
        case port(Int)
        /// The descriptor of a connected socket; the client closes it.
        case socket(Int32)
    }

    /// The maximum size of a response, in bytes.
    package static let limit = 64 << 20

    /// The error of a response that takes longer than the client's patience.
    package struct MissedDeadline: Error, CustomStringConvertible {
        let patience: Duration
        package var description: String { "no complete response within \(patience.brief)" }
    }

    /// Whether an error of ``exchange(_:_:)`` means that the server has closed the connection before the end of its response.
    package static func isClosing(_ error: any Error) -> Bool {
        switch error {
        case ChannelError.eof, ChannelError.alreadyClosed, ChannelError.ioOnClosedChannel, ChannelError.inputClosed,
            ChannelError.outputClosed, HTTPParserError.invalidEOFState:
            true
        case let error as IOError: [ECONNRESET, ENOTCONN, EPIPE].contains(error.errnoCode)
        default: false
        }
    }

    private let endpoint: Endpoint
    private let patience: Duration?

    /// Creates a client, which does not connect yet.
    ///
    /// - Parameter patience: The longest wait for the whole response; nil for no limit.
    package init(_ endpoint: Endpoint, patience: Duration? = nil) {
        self.endpoint = endpoint
        self.patience = patience
    }

    /// Makes a request. Cancelling the task closes the connection, which cancels the request on the server.
    ///
    /// - Parameter part: Called with each part of a response with the status 200; returns false to stop. Nil to return the whole
    ///   body instead.
    /// - Returns: The status and the body; the body is empty if `part` received it. A server that ends in the middle of a response
    ///   ends it for `part`.
    /// - Throws: The error of the connection, or of `part`; an error for a response that takes longer than the client's patience;
    ///   `too-large` for one that is longer than ``limit``, to a request that the server has nevertheless carried out.
    package func exchange(
        _ request: ServerRequest,
        _ part: ((ByteBufferView) throws -> Bool)? = nil
    ) async throws -> (status: Int, body: [UInt8]) {
        let connection = try await connect()
        let channel = connection.channel
        let deadline = patience.map { patience in
            channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(clamping: patience.nanoseconds))) {
                channel.pipeline.fireErrorCaught(MissedDeadline(patience: patience))
                channel.close(promise: nil)
            }
        }
        defer { deadline?.cancel() }
        return try await connection.executeThenClose { answers, requests in
            var headers = HTTPHeaders(request.fields.map { ($0.name, $0.value) })
            headers.replaceOrAdd(name: "Connection", value: "close")
            if headers["Host"].isEmpty { headers.add(name: "Host", value: host) }
            if request.method != "GET" || !request.body.isEmpty {
                headers.add(name: "Content-Length", value: "\(request.body.count)")
            }
            let head = HTTPRequestHead(
                version: .http1_1,
                method: HTTPMethod(rawValue: request.method),
                uri: request.target,
                headers: headers
            )
            // A single write: once it has the head, a server may respond and close the connection before a second write.
            let content: [HTTPClientRequestPart] =
                request.body.isEmpty ? [] : [.body(.byteBuffer(ByteBuffer(bytes: request.body)))]
            try await requests.write(contentsOf: [.head(head)] + content + [.end(nil)])
            return try await Self.read(answers, part)
        }
    }

    private static func read(
        _ answers: NIOAsyncChannelInboundStream<HTTPClientResponsePart>,
        _ part: ((ByteBufferView) throws -> Bool)?
    ) async throws -> (status: Int, body: [UInt8]) {
        var (status, body): (Int?, [UInt8]) = (nil, [])
        do {
            for try await piece in answers {
                switch piece {
                case .head(let head): status = Int(head.status.code)
                case .body(let bytes):
                    if let part, status == 200 {
                        guard try part(bytes.readableBytesView) else { return (200, []) }
                        continue
                    }
                    body += bytes.readableBytesView
                    guard body.count <= limit else {
                        throw ConnectorError(
                            .tooLarge,
                            "the answer has more than \(limit >> 20) MiB, and was not read to its end; what was asked for is done"
                        )
                    }
                case .end: if let status { return (status, body) }
                }
            }
        } catch HTTPParserError.invalidEOFState where part != nil && status == 200 && !Task.isCancelled {
            // A server that is stopped closes its streams without a last chunk.
            return (200, [])
        }
        throw ChannelError.eof
    }

    private var host: String {
        switch endpoint {
        case .port(let port): "127.0.0.1:\(port)"
        case .socket: "localhost"
        }
    }

    private func connect() async throws -> NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart> {
        try EventLoops.prepare()
        let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connectTimeout(.seconds(5))
        let prepare:
            @Sendable (any Channel) -> EventLoopFuture<
                NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart>
            > = { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
                }
            }
        return switch endpoint {
        case .port(let port):
            try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: prepare)
        case .socket(let descriptor):
            try await bootstrap.withConnectedSocket(descriptor, channelInitializer: prepare)
        }
    }
}
