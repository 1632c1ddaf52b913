// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHTTPServer
internal import ServiceLifecycle

/// Listens on the loopback interface and serves each connection until its client, a fault or ``stop()`` ends it.
final class SimulatorServer: Sendable {
    private let server: HTTPServer

    /// Creates a server; port 0 means any free port.
    init(port: Int, responder: SimulatorResponder) {
        server = HTTPServer(.address("127.0.0.1", port: port)) { request in responder.admit(request) }
    }

    /// Serves until ``stop()``, a graceful shutdown or the task's cancellation.
    ///
    /// - Parameter onRunning: Called once with the port, as soon as clients can connect.
    /// - Throws: The system's error if the port cannot be bound.
    @concurrent
    func run(onRunning: @Sendable (Int) -> Void) async throws {
        try await withGracefulShutdownHandler {
            try await server.run(onListening: onRunning)
        } onGracefulShutdown: {
            self.stop()
        }
    }

    /// Stops listening; closes idle connections immediately, ends streams, and closes the others after their current answer.
    func stop() {
        server.finish()
    }
}
