// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import NIOCore
import Testing

@testable import ConnectorHTTPServer

/// A client that reads a stream, and what ends it.
@Suite(.timeLimit(.minutes(1))) struct LocalClientTests {
    /// Why a caller stops reading.
    private struct Refusal: Error {}

    /// Begins a stream, and continues as the test says.
    private static func stream(
        _ rest: @escaping @Sendable () async throws -> Void
    ) -> @Sendable (ServerRequest) -> RequestAdmission {
        { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    ServerResponse(
                        status: 200,
                        [:],
                        .stream { writer in
                            try await writer.write(Array("begun".utf8))
                            try await rest()
                        }
                    )
                }
            )
        }
    }

    /// Waits until the stream is broken off.
    private static let forever: @Sendable () async -> Void = {
        for await _ in AsyncStream<Void>.makeStream().stream {}
    }

    @Test func `a stream that its server breaks off ends without an error`() async throws {
        try await serving(ServerLimits(), Self.stream { throw Refusal() }) { _, port in
            var read: [UInt8] = []
            let (status, body) = try await LocalClient(.port(port)).exchange(ServerRequest("GET", "/")) { bytes in
                read += bytes
                return true
            }
            #expect(status == 200 && body.isEmpty && read == Array("begun".utf8))
        }
    }

    @Test func `a stream that takes longer than the client's patience fails, and says so`() async throws {
        try await serving(ServerLimits(), Self.stream(Self.forever)) { _, port in
            let client = LocalClient(.port(port), patience: .milliseconds(50))
            let error = await #expect(throws: (any Error).self) {
                try await client.exchange(ServerRequest("GET", "/")) { _ in true }
            }
            #expect(error.map { "\($0)" } == "no complete response within 50 ms")
        }
    }

    @Test func `an answer that is too long is an error that says so, and no end of the connection`() async throws {
        let admit: @Sendable (ServerRequest) -> RequestAdmission = { _ in
            .read(
                limit: 0,
                tooLarge: { ServerResponse(status: 413) },
                answer: { _ in
                    ServerResponse(
                        status: 200,
                        [:],
                        .stream { writer in
                            let part = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
                            for _ in 0...(LocalClient.limit >> 20) { try await writer.write(part) }
                        }
                    )
                }
            )
        }
        try await serving(ServerLimits(), admit) { _, port in
            let error = await #expect(throws: ConnectorError.self) {
                try await LocalClient(.port(port)).exchange(ServerRequest("GET", "/"))
            }
            #expect(error?.code == .tooLarge && error?.isRetryable == false)
        }
    }

    @Test func `an error that the reader of a stream throws ends the request and is rethrown`() async throws {
        try await serving(ServerLimits(), Self.stream(Self.forever)) { _, port in
            await #expect(throws: Refusal.self) {
                try await LocalClient(.port(port)).exchange(ServerRequest("GET", "/")) { _ in throw Refusal() }
            }
        }
    }
}
