// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorTestSupport
import Dispatch
import Testing

@testable import ConnectorHTTPServer

/// Serves on a free port of 127.0.0.1 for as long as a body runs.
func serving(
    _ limits: ServerLimits = ServerLimits(),
    answersHalfClosed: Bool = false,
    _ admit: @escaping @Sendable (ServerRequest) -> RequestAdmission,
    _ body: (HTTPServer, Int) async throws -> Void
) async throws {
    let server = HTTPServer(
        .address("127.0.0.1", port: 0),
        limits: limits,
        answersHalfClosed: answersHalfClosed,
        admit: admit
    )
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    async let end: Void = server.run { port.yield($0) }
    for await port in ports {
        try await body(server, port)
        break
    }
    server.stop()
    try await end
}

/// Runs what blocks on a thread of its own, so that the server under test has those that it needs.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue.global().async { continuation.resume(with: Result { try body() }) }
    }
}

/// Makes one valid request.
///
/// - Returns: The answer.
func ask(_ port: Int, _ target: String = "/livez") async throws -> String {
    try await blocking {
        let socket = try RawSocket(port: port)
        socket.send("GET \(target) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".utf8)
        return socket.read()
    }
}
