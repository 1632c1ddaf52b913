// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Sends the parts of a streaming body to one client.
package struct BodyWriter: Sendable {
    private let send: @Sendable ([UInt8]) async throws -> Void

    /// Creates a writer.
    ///
    /// - Parameter send: Sends a nonempty part.
    package init(_ send: @escaping @Sendable ([UInt8]) async throws -> Void) {
        self.send = send
    }

    /// Sends a part and returns once the kernel has accepted it.
    ///
    /// A client that does not read each ``ServerLimits/writeSize`` bytes of it in time is disconnected, unless the server has no
    /// ``ServerLimits/hasStreamTimeout``.
    ///
    /// - Throws: An error if the connection has ended.
    package func write(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        try await send(bytes)
    }
}
