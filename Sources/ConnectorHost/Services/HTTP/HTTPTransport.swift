// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import AsyncHTTPClient
import ConnectorManifest
import NIOCore
import NIOHTTP1
import Synchronization

/// The HTTP client of all gates: one pool of connections, made by the first request.
final class HTTPTransport: Sendable {
    /// Where the client is in its life.
    private enum State {
        case idle
        case running(HTTPClient)
        case shutDown
    }

    /// Limits.
    let options: HTTPOptions
    private let state = Mutex(State.idle)

    /// Connects nothing.
    init(options: HTTPOptions) {
        self.options = options
    }

    deinit {
        // The client traps if it is forgotten while it has connections: a host that nobody closed is no reason to.
        let client = state.withLock { state in
            if case .running(let client) = state { client } else { nil as HTTPClient? }
        }
        if let client { Task { try? await client.shutdown() } }
    }

    /// Closes every connection.
    func shutdown() async {
        let client = state.withLock { state -> HTTPClient? in
            defer { state = .shutDown }
            if case .running(let client) = state { return client }
            return nil
        }
        // Requests were cancelled when their gates closed; one that was not ends with an error that its task reports.
        try? await client?.shutdown()
    }

    /// Sends one request and reads its response; follows no redirect.
    ///
    /// - Throws: A ``ServiceFailure`` for a limit of the host's, otherwise what the client threw.
    func send(_ request: OutgoingRequest) async throws -> HTTPReply {
        var outgoing = HTTPClientRequest(url: request.url.description)
        outgoing.method = HTTPMethod(rawValue: request.method)
        outgoing.headers = HTTPHeaders(request.fields.map { ($0.name, $0.value) })
        if !request.body.isEmpty { outgoing.body = .bytes(ByteBuffer(bytes: request.body)) }
        // The deadline is the gate's, on the host's clock: it cancels the task.
        let response = try await client().execute(outgoing, deadline: .distantFuture)
        var reply = HTTPReply(status: UInt32(response.status.code))
        reply.fields = response.headers.map { HTTPField(name: $0.name, value: $0.value) }
        if let length = reply.fields.first(named: "content-length").flatMap({ Int($0) }), request.method != "HEAD" {
            try check(length)
            reply.body.reserveCapacity(length)
        }
        for try await buffer in response.body {
            try check(reply.body.count + buffer.readableBytes)
            reply.body += buffer.readableBytesView
        }
        return reply
    }

    private func check(_ length: Int) throws(ServiceFailure) {
        guard length <= options.responseLimit else {
            throw .tooLarge("the response has more than \(options.responseLimit) bytes")
        }
    }

    private func client() throws -> HTTPClient {
        try state.withLock { state in
            switch state {
            case .running(let client):
                return client
            case .shutDown:
                throw ServiceFailure.notOpen
            case .idle:
                let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
                state = .running(client)
                return client
            }
        }
    }

    private var configuration: HTTPClient.Configuration {
        let (seconds, attoseconds) = options.connectTimeout.components
        let timeout = TimeAmount.nanoseconds(min(seconds, 86_400) * 1_000_000_000 + attoseconds / 1_000_000_000)
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: .init(connect: timeout),
            decompression: .disabled
        )
        // A refused connection is an answer; who wants another attempt has a deadline of his own to plan with.
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
