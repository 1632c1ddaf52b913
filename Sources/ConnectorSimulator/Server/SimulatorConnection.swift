// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import NIOCore
internal import NIOHTTP1

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Carries a request from a connection to the router and the answer back, or breaks the connection for a fault.
struct SimulatorConnection: Sendable {
    /// The parts of requests, one after the other.
    typealias Parts = NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator

    /// Answers requests.
    let router: SimulatorRouter
    /// The clock that slow answers wait on.
    let clock: any Clock<Duration>
    /// The wall clock.
    let now: @Sendable () -> Timestamp
    /// The most bytes of a body on the wire.
    let encodedLimit: Int

    /// Handles one request; called by the server for each, in order, on every connection.
    ///
    /// - Returns: Whether the connection stays open for another request.
    func respond(_ head: HTTPRequestHead, body parts: inout Parts, _ channel: any Channel) async throws -> Bool {
        var simulated = SimulatedRequest(
            head.method.rawValue,
            head.uri,
            headers: HTTPFields(head.headers),
            receivedAt: now()
        )
        let isHead = simulated.method == "HEAD"
        if isHead { (simulated.method, simulated.isHead) = ("GET", true) }
        if simulated.headers["Expect"]?.lowercased() == "100-continue" {
            try await Self.send(.head(HTTPResponseHead(version: .http1_1, status: .continue)), channel)
        }
        guard let body = try await collect(&parts) else {
            try await send(router.refuseTooLarge(simulated), isHead: isHead, closes: true, channel)
            return false
        }
        simulated.body = body
        simulated.encodedBodyCount = body.count
        simulated.receivedAt = now()
        if let preflight = Self.preflight(simulated) {
            try await send(preflight, isHead: false, closes: !head.isKeepAlive, channel)
            return head.isKeepAlive
        }
        var exchange = router.answer(simulated)
        if exchange.delay > .zero { try await clock.sleep(for: exchange.delay) }
        if simulated.headers["Origin"] != nil, !simulated.isForReceived {
            exchange.response.headers["Access-Control-Allow-Origin"] = "*"
        }
        switch exchange.delivery {
        case .complete:
            try await send(exchange.response, isHead: isHead, closes: !head.isKeepAlive, channel)
            return head.isKeepAlive
        case .truncated: try await truncate(exchange.response, channel)
        case .reset: try await reset(channel)
        }
        return false
    }

    /// Reads the whole body, or returns `nil` as soon as it exceeds the limit.
    private func collect(_ parts: inout Parts) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        while case .body(let buffer)? = try await parts.next(isolation: #isolation) {
            guard buffer.readableBytes <= encodedLimit - bytes.count else { return nil }
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// Sends an answer completely.
    private func send(_ response: HTTPResponse, isHead: Bool, closes: Bool, _ channel: any Channel) async throws {
        let hasBody = !isHead && response.status != 204 && response.status != 304
        var head = Self.head(of: response)
        if closes { head.headers.replaceOrAdd(name: "Connection", value: "close") }
        channel.write(HTTPServerResponsePart.head(head), promise: nil)
        if hasBody {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: response.body))), promise: nil)
        }
        try await Self.send(.end(nil), channel)
    }

    /// Announces the whole body, and sends half of it.
    private func truncate(_ response: HTTPResponse, _ channel: any Channel) async throws {
        let half = ByteBuffer(bytes: response.body.prefix(response.body.count / 2))
        channel.write(HTTPServerResponsePart.head(Self.head(of: response)), promise: nil)
        try await Self.send(.body(.byteBuffer(half)), channel)
    }

    /// Sends a TCP reset, by closing without lingering.
    private func reset(_ channel: any Channel) async throws {
        if let socket = channel as? any SocketOptionProvider {
            try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await channel.close().get()
    }

    /// Writes a part, and returns once it and earlier parts have reached the socket.
    private static func send(_ part: HTTPServerResponsePart, _ channel: any Channel) async throws {
        try await channel.writeAndFlush(part).get()
    }

    /// The status line and fields, with a body length for every status that may have a body.
    private static func head(of response: HTTPResponse) -> HTTPResponseHead {
        var headers = HTTPHeaders(response.headers.map { ($0.name, $0.value) })
        if response.status != 204, response.status != 304 {
            headers.replaceOrAdd(name: "Content-Length", value: String(response.body.count))
        }
        return HTTPResponseHead(
            version: .http1_1,
            status: HTTPResponseStatus(statusCode: response.status),
            headers: headers
        )
    }

    /// Allows requests to a vendor from any web page, as the vendors do; `nil` when the request is not such a preflight.
    private static func preflight(_ request: SimulatedRequest) -> HTTPResponse? {
        guard request.method == "OPTIONS", !request.isForReceived,
            request.headers["Access-Control-Request-Method"] != nil
        else { return nil }
        var headers: HTTPFields = [
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
            "Access-Control-Max-Age": "3600",
        ]
        headers["Access-Control-Allow-Headers"] = request.headers["Access-Control-Request-Headers"]
        return HTTPResponse(status: 204, headers: headers)
    }
}

extension HTTPFields {
    /// Copies the fields of a request.
    fileprivate init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers { append(name, value) }
    }
}
