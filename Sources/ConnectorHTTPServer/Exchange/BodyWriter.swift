// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Sends the parts of a stream to one client.
package struct BodyWriter: Sendable {
    private let send: @Sendable ([UInt8]) async throws -> Void

    /// - Parameter send: Sends a part that is not empty.
    init(_ send: @escaping @Sendable ([UInt8]) async throws -> Void) {
        self.send = send
    }

    /// Sends a part, and returns when it has left this process. A client that does not take it in time is let go.
    ///
    /// - Throws: The end of the connection.
    package func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        try await send(bytes)
    }
}
