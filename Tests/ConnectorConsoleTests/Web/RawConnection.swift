// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import NIOCore
import NIOPosix

/// A connection to a server on this machine that sends any bytes.
struct RawConnection {
    private let channel: NIOAsyncChannel<ByteBuffer, ByteBuffer>

    /// Connects.
    init(port: Int) async throws {
        channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }

    /// Sends a text, and reads until the answer has another in it, or ends.
    func send(_ text: String, until end: String? = nil) async throws -> String {
        try await channel.executeThenClose { answers, requests in
            // A server that refuses closes before it has read everything.
            try? await requests.write(ByteBuffer(string: text))
            var read = ""
            do {
                for try await bytes in answers {
                    read += String(buffer: bytes)
                    if let end, read.contains(end) { break }
                }
            } catch {
                // A reset ends an answer, too.
            }
            return read
        }
    }

    /// Sends a text and does something while the connection stays as it is.
    func holding<Value>(_ text: String, _ body: () async throws -> Value) async throws -> Value {
        try await channel.executeThenClose { _, requests in
            try await requests.write(ByteBuffer(string: text))
            return try await body()
        }
    }

    /// Whether the server closes the connection.
    func isClosed() async throws -> Bool {
        try await channel.executeThenClose { answers, _ in
            do {
                for try await _ in answers {}
            } catch {
                return true
            }
            return true
        }
    }
}
