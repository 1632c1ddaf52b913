// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorHTTPServer

/// Serves the API on the socket of a state directory, over HTTP/1.1.
///
/// Only processes of this user or of root may connect. The limits bound the connections and the memory that a faulty client
/// can consume.
package final class ControlServer: Sendable {
    private let server: HTTPServer
    private let socket: ControlSocket

    /// The default limits. A reader that pauses, such as a suspended `watch`, keeps its stream and is told what it missed.
    package static let limits: ServerLimits = {
        var limits = ServerLimits()
        limits.hasStreamTimeout = false
        return limits
    }()

    /// Creates a server on a bound socket, which does not serve yet.
    package init(_ api: ControlAPI, on socket: ControlSocket, limits: ServerLimits = limits) {
        self.socket = socket
        server = HTTPServer(
            .socket(socket.descriptor),
            limits: limits,
            answersHalfClosed: true,
            common: ["Cache-Control": "no-store"],
            prepare: { channel in try PeerCredentials.check(channel) },
            admit: { _ in Self.admit(api) }
        )
    }

    /// The connections.
    package var table: ConnectionTable { server.table }

    /// Serves until ``stop()`` or the task's cancellation, then removes the socket's file. Responses in progress when the task is
    /// cancelled have a second to end.
    ///
    /// - Throws: The system's error if the server cannot listen on the socket.
    package func run() async throws {
        defer { socket.remove() }
        try await server.run(finishingWithin: .seconds(1))
    }

    /// Stops listening and closes every connection, which cancels the requests in progress.
    package func stop() {
        server.stop()
    }

    private static func admit(_ api: ControlAPI) -> RequestAdmission {
        .read(
            limit: ControlAPI.bodyLimit,
            tooLarge: { ServerResponse(ControlAPI.bodyTooLarge, status: 413) },
            answer: { request in await api.respond(request) }
        )
    }
}
