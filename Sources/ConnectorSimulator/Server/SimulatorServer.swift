// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import ServiceLifecycle
internal import Synchronization

/// Listens on the loopback interface and serves each connection until its client, a fault or ``stop()`` ends it.
///
/// Speaks HTTP/1.1 without encryption, directly on the transport that the host already links.
final class SimulatorServer: Sendable {
    /// The open channels.
    private struct Channels {
        /// The listening channel, while there is one.
        var listener: (any Channel)?
        /// The clients' channels.
        var clients: [ObjectIdentifier: any Channel] = [:]
        /// Whether the server refuses new connections.
        var isStopped = false
    }

    /// A connection, request by request.
    private typealias Connection = NIOAsyncChannel<HTTPServerRequestPart, HTTPServerResponsePart>

    private let port: Int
    private let responder: SimulatorConnection
    /// Guarded by short critical sections; channels are closed outside of them.
    private let channels = Mutex(Channels())

    /// Prepares a server; 0 stands for any free port.
    init(port: Int, responder: SimulatorConnection) {
        self.port = port
        self.responder = responder
    }

    /// Serves until ``stop()``, a graceful shutdown or the task's cancellation.
    ///
    /// - Parameter onRunning: Called once with the port, as soon as clients can connect.
    /// - Throws: The system's error if the port cannot be bound.
    @concurrent
    func run(onRunning: @Sendable (Int) -> Void) async throws {
        let listener = try await listen()
        let isStopped = channels.withLock { channels in
            channels.listener = listener.channel
            return channels.isStopped
        }
        if isStopped { listener.channel.close(promise: nil) }
        onRunning(listener.channel.localAddress?.port ?? port)
        do {
            try await withTaskCancellationOrGracefulShutdownHandler {
                try await self.accept(from: listener)
            } onCancelOrGracefulShutdown: {
                self.stop()
            }
        } catch is CancellationError {}
    }

    /// Stops listening, and closes idle connections at once and the others after their current answer.
    func stop() {
        let open = channels.withLock { channels -> Channels in
            // Ask each connection only once: its pipeline treats a second request as a defect.
            guard !channels.isStopped else { return Channels() }
            channels.isStopped = true
            return channels
        }
        open.listener?.close(promise: nil)
        for client in open.clients.values { Self.quiesce(client) }
    }

    private func listen() async throws -> NIOAsyncChannel<Connection, Never> {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .bind(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    return try Connection(wrappingChannelSynchronously: channel)
                }
            }
    }

    private func accept(from listener: NIOAsyncChannel<Connection, Never>) async throws {
        try await listener.executeThenClose { connections in
            try await withThrowingDiscardingTaskGroup { group in
                for try await connection in connections {
                    group.addTask { await self.serve(connection) }
                }
            }
        }
    }

    private func serve(_ connection: Connection) async {
        let channel = connection.channel
        let isStopped = channels.withLock { channels in
            channels.clients[ObjectIdentifier(channel)] = channel
            return channels.isStopped
        }
        if isStopped { Self.quiesce(channel) }
        // A broken connection concerns only its client, which sees the break.
        try? await connection.executeThenClose { requests, _ in
            var parts = requests.makeAsyncIterator()
            while case .head(let head)? = try await parts.next() {
                guard try await responder.respond(head, body: &parts, channel) else { break }
            }
        }
        _ = channels.withLock { $0.clients.removeValue(forKey: ObjectIdentifier(channel)) }
    }

    /// Asks the pipeline to close once the answer in progress is written, or at once.
    private static func quiesce(_ channel: any Channel) {
        channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    }
}
