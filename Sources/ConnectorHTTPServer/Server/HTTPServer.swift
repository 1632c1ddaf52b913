// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import NIOCore
internal import NIOPosix
internal import Synchronization

/// Serves HTTP/1.1: the API on its Unix socket, the console in the browser, and the simulators.
///
/// Requests are admitted on the event loops, one at a time for each connection. See ``ServerLimits`` for what a client cannot exceed.
package final class HTTPServer: Sendable {
    /// Where a server listens.
    package enum Place: Sendable {
        /// A host and a port; 0 for any free one.
        case address(String, port: Int)
        /// A socket that is bound already; the server closes it.
        case socket(Int32)
    }

    private struct State {
        var listener: (any Channel)?
        var isStopped = false
    }

    private let place: Place
    private let shared: SharedServerState
    private let prepare: (@Sendable (any Channel) throws -> Void)?
    private let state = Mutex(State())

    /// Prepares to serve; listens to nothing yet.
    ///
    /// - Parameters:
    ///   - common: The header fields of every answer, refusals of malformed requests included.
    ///   - prepare: Called on the event loop with each new connection, to encrypt it or to look at its client; an error ends it.
    ///   - admit: Decides what becomes of a request. Called on the event loops, which it must not block.
    package init(
        _ place: Place,
        limits: ServerLimits = ServerLimits(),
        common: HTTPFields = [:],
        prepare: (@Sendable (any Channel) throws -> Void)? = nil,
        admit: @escaping @Sendable (ServerRequest) -> RequestAdmission
    ) {
        self.place = place
        self.prepare = prepare
        shared = SharedServerState(limits, common, admit)
    }

    /// The connections.
    package var table: ConnectionTable { shared.table }

    /// Serves until ``stop()``, ``finish()`` or the task's cancellation, and returns when the last connection has ended.
    ///
    /// - Parameter onListening: Called once, as soon as clients can connect, with the port; 0 for a Unix socket.
    /// - Throws: The system's error if the place cannot be listened on.
    @concurrent
    package func run(onListening: @Sendable (Int) -> Void = { _ in }) async throws {
        let listener = try await listen()
        let isStopped = state.withLock { state in
            state.listener = listener
            return state.isStopped
        }
        if isStopped { listener.close(promise: nil) }
        onListening(listener.localAddress?.port ?? 0)
        await withTaskCancellationHandler {
            try? await listener.closeFuture.get()
            // Those that were accepted last find the table closed.
            for connection in shared.table.close() { try? await connection.closeFuture.get() }
        } onCancel: {
            stop()
        }
    }

    /// Stops listening, and closes every connection, which cancels what was asked through it.
    package func stop() {
        stopListening()
        for connection in shared.table.close() { connection.close(promise: nil) }
    }

    /// Stops listening, and closes every connection after the answer that is under way.
    package func finish() {
        stopListening()
        for connection in shared.table.close() {
            connection.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        }
    }

    private func stopListening() {
        let listener = state.withLock { state in
            state.isStopped = true
            return state.listener
        }
        listener?.close(promise: nil)
    }

    private func listen() async throws -> any Channel {
        let (shared, prepare) = (shared, prepare)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            // Where the queue is full, a client tries again only after a second.
            .serverChannelOption(.backlog, value: 4096)
            // Many are let in at once, so that those who mean well are soon among them.
            .serverChannelOption(.maxMessagesPerRead, value: 64)
            .childChannelOption(.autoRead, value: false)
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
        switch place {
        case .socket(let descriptor): return try await bootstrap.withBoundSocket(descriptor).get()
        case .address(let host, let port):
            return
                try await bootstrap
                .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
                .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
                // What the kernel keeps of answers that are not taken has been worked for.
                .childChannelOption(.socketOption(.so_sndbuf), value: 128 << 10)
                .bind(host: host, port: port).get()
        }
    }
}
