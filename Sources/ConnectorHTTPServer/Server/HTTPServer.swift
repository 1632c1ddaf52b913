// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import NIOCore
internal import NIOPosix
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The HTTP/1.1 server of the API on its Unix socket, of the console in the browser, and of the simulators.
///
/// Requests are admitted on the event loops, one at a time per connection. ``ServerLimits`` bounds what a client can consume.
package final class HTTPServer: Sendable {
    /// The endpoint that a server listens on.
    package enum Endpoint: Sendable {
        /// A host and a port; 0 for any free port.
        case address(String, port: Int)
        /// The descriptor of a bound socket; the server closes it.
        case socket(Int32)
    }

    private struct State {
        var listener: (any Channel)?
        var isStopped = false
    }

    /// How many connections may wait to be accepted. If there are as many, a client's SYN is dropped, and the client retries only after a
    /// second; on a Unix socket, a client that does not block is refused.
    private static let backlog: Int32 = 4096

    private let endpoint: Endpoint
    private let shared: SharedServerState
    private let answersHalfClosed: Bool
    private let prepare: (@Sendable (any Channel) throws -> Void)?
    private let state = Mutex(State())

    /// Creates a server, which does not listen yet.
    ///
    /// - Parameters:
    ///   - answersHalfClosed: Whether a client that has closed its side, as `nc -N` does, still gets the response to a GET or HEAD
    ///     request. A client that is gone looks the same, so its GET or HEAD request is not cancelled either; requests with other
    ///     methods, and streams, are cancelled.
    ///   - common: The header fields of every response, including refusals of malformed requests.
    ///   - prepare: Called on the event loop with each new connection, to add TLS or to check the client; throwing closes it.
    ///   - admit: Decides on a request. Called on the event loops, which it must not block.
    package init(
        _ endpoint: Endpoint,
        limits: ServerLimits = ServerLimits(),
        answersHalfClosed: Bool = false,
        common: HTTPFields = [:],
        prepare: (@Sendable (any Channel) throws -> Void)? = nil,
        admit: @escaping @Sendable (ServerRequest) -> RequestAdmission
    ) {
        self.endpoint = endpoint
        self.answersHalfClosed = answersHalfClosed
        self.prepare = prepare
        shared = SharedServerState(limits, common, admit)
    }

    /// The connections.
    package var table: ConnectionTable { shared.table }

    /// Serves until ``stop()``, ``finish()`` or the task's cancellation, and returns when the last connection has ended.
    ///
    /// - Parameters:
    ///   - grace: How long responses in progress may take once the task is cancelled; nil to close every connection at once.
    ///   - onListening: Called once, as soon as clients can connect, with the port; 0 for a Unix socket.
    /// - Throws: The system's error if the server cannot listen on the endpoint; `invalid-value` for a number that is not a port.
    @concurrent
    package func run(
        finishingWithin grace: Duration? = nil,
        onListening: @Sendable (Int) -> Void = { _ in }
    ) async throws {
        let listener = try await listen()
        let isStopped = state.withLock { state in
            state.listener = listener
            return state.isStopped
        }
        if isStopped { listener.close(promise: nil) }
        onListening(listener.localAddress?.port ?? 0)
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
            // Connections accepted later find the table closed and close themselves.
            for connection in shared.table.close() { try? await connection.closeFuture.get() }
        } onCancel: {
            if let grace { finish(within: grace) } else { stop() }
        }
    }

    /// Stops listening and closes every connection, which cancels the requests in progress.
    package func stop() {
        stopListening()
        for connection in shared.table.close() { connection.close(promise: nil) }
    }

    /// Stops listening and closes every connection after its current response. Cancels streams, which may go on forever.
    package func finish() {
        stopListening()
        for connection in shared.table.close() {
            connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    /// Finishes, and after a time stops.
    private func finish(within grace: Duration) {
        finish()
        let delay = TimeAmount.nanoseconds(Int64(clamping: grace.nanoseconds))
        MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: delay) { [self] in stop() }
    }

    private func stopListening() {
        let listener = state.withLock { state in
            state.isStopped = true
            return state.listener
        }
        listener?.close(promise: nil)
    }

    private func listen() async throws -> any Channel {
        try EventLoops.prepare()
        let (shared, prepare) = (shared, prepare)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.maxMessagesPerRead, value: UInt(shared.limits.acceptedAtOnce))
            .serverChannelInitializer { listener in
                listener.eventLoop.makeCompletedFuture {
                    try listener.pipeline.syncOperations
                        .addHandler(AcceptanceLimit(limit: shared.limits.openConnections))
                }
            }
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.allowRemoteHalfClosure, value: answersHalfClosed)
            .childChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(
                .recvAllocator,
                value: FixedSizeRecvByteBufferAllocator(capacity: shared.limits.readSize)
            )
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try prepare?(channel)
                    try channel.pipeline.syncOperations.addHandler(HTTPConnection(shared))
                }
            }
        switch endpoint {
        case .socket(let descriptor):
            let listener = try await bootstrap.withBoundSocket(descriptor).get()
            // NIO has set a backlog of 128, whatever the option says. A listening socket can change its own.
            #if canImport(Glibc)
                _ = Glibc.listen(descriptor, Self.backlog)
            #else
                _ = Darwin.listen(descriptor, Self.backlog)
            #endif
            return listener
        case .address(let host, let port):
            // NIO would take the lower 16 bits of a larger number.
            guard (0...65535).contains(port) else {
                throw ConnectorError(.invalidValue, "a port must be a number from 0 to 65535, not \(port)")
            }
            return
                try await bootstrap
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // Bounds the response data that the kernel buffers for clients that do not read.
                .childChannelOption(.socketOption(.so_sndbuf), value: 128 << 10)
                .bind(host: host, port: port).get()
        }
    }
}
