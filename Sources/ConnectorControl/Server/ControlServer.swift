// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
package import ConnectorHTTPServer
internal import Synchronization

/// Serves the API on the socket of a state directory, over HTTP/1.1.
///
/// Only this user, or root, may ask. The limits keep a client's mistake from costing the host more than some connections and some
/// kilobytes each.
package final class ControlServer: Sendable {
    private let server: HTTPServer
    private let socket: ControlSocket

    /// What is accepted of clients.
    package static let limits = ServerLimits()

    /// Prepares to serve on a bound socket.
    package init(_ api: ControlAPI, on socket: ControlSocket, limits: ServerLimits = limits) {
        self.socket = socket
        server = HTTPServer(
            .socket(socket.descriptor),
            limits: limits,
            common: ["Cache-Control": "no-store"],
            prepare: { channel in try PeerCredentials.check(channel) },
            admit: { _ in Self.admit(api) }
        )
    }

    /// The connections.
    package var table: ConnectionTable { server.table }

    /// Serves until ``stop()``.
    ///
    /// - Throws: The system's error if the socket cannot be listened on.
    package func run() async throws {
        defer { socket.remove() }
        try await server.run()
    }

    /// Stops listening, and closes every connection, which cancels what was asked through it.
    package func stop() {
        server.stop()
    }

    private static func admit(_ api: ControlAPI) -> RequestAdmission {
        .read(
            limit: ControlAPI.bodyLimit,
            tooLarge: {
                let error = ConnectorError(.tooLarge, "a body has at most \(ControlAPI.bodyLimit >> 10) KiB")
                return ServerResponse(ControlResponse(error, status: 413))
            },
            answer: { request in ServerResponse(await api.respond(request)) }
        )
    }
}

extension ServerResponse {
    /// Takes an answer of the API.
    package init(_ response: ControlResponse) {
        var fields = HTTPFields()
        // What has no body at all says nothing of it.
        if response.status != 204 { fields.append("Content-Type", response.contentType) }
        if let allow = response.allow { fields.append("Allow", allow) }
        self.init(status: response.status, fields, .bytes(response.body))
        guard let stream = response.stream else { return }
        let beginning = response.body
        body = .stream { writer in
            try await writer.write(beginning)
            for await part in stream { try await writer.write(part) }
        }
    }
}
