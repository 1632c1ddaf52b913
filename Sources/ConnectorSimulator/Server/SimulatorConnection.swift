// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import HTTPTypes
internal import HummingbirdCore
internal import NIOCore

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// Carries one request from a connection to the router and the answer back, or breaks the connection as a fault asks.
struct SimulatorConnection: Sendable {
    /// Answers requests.
    let router: SimulatorRouter
    /// The clock that slow answers wait on.
    let clock: any Clock<Duration>
    /// The wall clock.
    let now: @Sendable () -> WallTime
    /// The most bytes of a body on the wire.
    let encodedLimit: Int

    /// Handles one request; called by the server for each, in order, on every connection.
    @concurrent @Sendable
    func respond(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        var simulated = SimulatedRequest(
            request.method.rawValue,
            request.head.path ?? "/",
            headers: ConnectorManifest.HTTPFields(request.head),
            receivedAt: now()
        )
        let isHead = simulated.method == "HEAD"
        if isHead { (simulated.method, simulated.isHead) = ("GET", true) }
        if simulated.headers["Expect"]?.lowercased() == "100-continue" {
            try await writer.writeInformationalHead(HTTPTypes.HTTPResponse(status: .continue))
        }
        guard let body = try await collect(request.body) else {
            try await send(router.refuseTooLarge(simulated), isHead: isHead, closes: true, writer)
            return try await close(channel)
        }
        simulated.body = body
        simulated.encodedBodyCount = body.count
        simulated.receivedAt = now()
        if let preflight = Self.preflight(simulated) {
            return try await send(preflight, isHead: false, closes: false, writer)
        }
        var exchange = router.answer(simulated)
        if exchange.delay > .zero { try await clock.sleep(for: exchange.delay) }
        if simulated.headers["Origin"] != nil { exchange.response.headers["Access-Control-Allow-Origin"] = "*" }
        switch exchange.delivery {
        case .complete: try await send(exchange.response, isHead: isHead, closes: false, writer)
        case .truncated: try await truncate(exchange.response, writer, channel)
        case .reset: try await reset(channel)
        }
    }

    /// Reads the whole body, or returns `nil` as soon as it exceeds the limit.
    private func collect(_ body: RequestBody) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        for try await buffer in body {
            guard buffer.readableBytes <= encodedLimit - bytes.count else { return nil }
            bytes += buffer.readableBytesView
        }
        return bytes
    }

    /// Sends an answer completely.
    @concurrent
    private func send(
        _ response: ConnectorManifest.HTTPResponse,
        isHead: Bool,
        closes: Bool,
        _ writer: consuming ResponseWriter
    ) async throws {
        let hasBody = !isHead && response.status != 204 && response.status != 304
        var head = Self.head(of: response)
        if closes { head.headerFields[.connection] = "close" }
        if hasBody {
            try await writer.write(response: head, body: ResponseBody(byteBuffer: ByteBuffer(bytes: response.body)))
        } else {
            try await writer.writeResponse(head)
        }
    }

    /// Announces the whole body, sends half of it and closes.
    @concurrent
    private func truncate(
        _ response: ConnectorManifest.HTTPResponse,
        _ writer: consuming ResponseWriter,
        _ channel: any Channel
    ) async throws {
        var body = try await writer.writeHead(Self.head(of: response))
        try await body.write(ByteBuffer(bytes: response.body.prefix(response.body.count / 2)))
        try await close(channel)
    }

    /// Sends a TCP reset, by closing without lingering.
    private func reset(_ channel: any Channel) async throws {
        if let socket = channel as? any SocketOptionProvider {
            try await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        }
        try await close(channel)
    }

    /// Closes once everything written so far has reached the socket; one that is closed already is no error.
    private func close(_ channel: any Channel) async throws {
        do {
            try await channel.eventLoop.submit {}.get()
            try await channel.close().get()
        } catch ChannelError.alreadyClosed {}
    }

    /// Status line and fields, with the length of the body unless there never is one.
    private static func head(of response: ConnectorManifest.HTTPResponse) -> HTTPTypes.HTTPResponse {
        var fields = HTTPTypes.HTTPFields(response.headers)
        if response.status != 204, response.status != 304 { fields[.contentLength] = String(response.body.count) }
        return HTTPTypes.HTTPResponse(status: .init(code: response.status), headerFields: fields)
    }

    /// Lets any page ask any vendor, as the vendors themselves do; `nil` when the request is not a preflight.
    private static func preflight(_ request: SimulatedRequest) -> ConnectorManifest.HTTPResponse? {
        guard request.method == "OPTIONS", request.headers["Access-Control-Request-Method"] != nil else { return nil }
        var headers: ConnectorManifest.HTTPFields = [
            "Access-Control-Allow-Origin": "*",
            "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
            "Access-Control-Max-Age": "3600",
        ]
        headers["Access-Control-Allow-Headers"] = request.headers["Access-Control-Request-Headers"]
        return ConnectorManifest.HTTPResponse(status: 204, headers: headers)
    }
}
