// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import NIOCore
internal import NIOHTTP1
internal import NIOPosix

/// Makes one request of a server on this machine.
package struct LocalClient: Sendable {
    /// Where the server listens.
    package enum Place: Sendable {
        /// A port of 127.0.0.1.
        case port(Int)
        /// A socket that is connected already; the client closes it.
        case socket(Int32)
    }

    /// The most bytes of an answer.
    package static let limit = 64 << 20

    private let place: Place
    private let patience: Duration?

    /// Names the server; connects to nothing.
    ///
    /// - Parameter patience: The longest wait for the whole answer; nil for no limit.
    package init(_ place: Place, patience: Duration? = nil) {
        self.place = place
        self.patience = patience
    }

    /// Makes a request. If the task is cancelled, the connection ends, and with it what the server does.
    ///
    /// - Parameters:
    ///   - request: Its fields are without those that describe the connection and the body's length.
    ///   - part: Takes the parts of an answer with the status 200; false for no more. Nil to return them together.
    /// - Returns: The status, and the body that no function took.
    /// - Throws: The error of the connection, or of the function.
    package func exchange(
        _ request: ServerRequest,
        _ part: ((ByteBufferView) throws -> Bool)? = nil
    ) async throws -> (status: Int, body: [UInt8]) {
        let connection = try await connect()
        let channel = connection.channel
        let deadline = patience.map { patience in
            channel.eventLoop.scheduleTask(in: .nanoseconds(Int64(clamping: patience.nanoseconds))) {
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
            // Together: a server that has the head may have answered, and closed the connection, before a second write.
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
                    guard body.count <= limit else { throw ChannelError.eof }
                case .end: if let status { return (status, body) }
                }
            }
        } catch let error as ConnectorError {
            throw error
        } catch  where part != nil && status == 200 && !Task.isCancelled {
            // A server that ends breaks its streams off.
            return (200, [])
        }
        throw ChannelError.eof
    }

    private var host: String {
        switch place {
        case .port(let port): "127.0.0.1:\(port)"
        case .socket: "localhost"
        }
    }

    private func connect() async throws -> NIOAsyncChannel<HTTPClientResponsePart, HTTPClientRequestPart> {
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
        return switch place {
        case .port(let port):
            try await bootstrap.connect(host: "127.0.0.1", port: port, channelInitializer: prepare)
        case .socket(let descriptor):
            try await bootstrap.withConnectedSocket(descriptor, channelInitializer: prepare)
        }
    }
}
