// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A response whose body comes in parts, as the server sends it.
///
/// The server waits while no part is awaited. Releasing the stream and its iterators ends the request. Each part comes
/// only once: read them with one iterator, in one task at a time.
public struct HTTPStream: Sendable, AsyncSequence {
    /// The status and the header. The body is empty, except in tests.
    private let head: HTTPResponse
    private let next: @Sendable () async throws(PluginError) -> [UInt8]?

    /// Creates a response in parts, for services in tests.
    ///
    /// - Parameters:
    ///   - head: The status and the header. Its body, if not empty, is the first part.
    ///   - next: Awaits the next part; nil at the end.
    public init(
        _ head: HTTPResponse,
        next: @escaping @Sendable () async throws(PluginError) -> [UInt8]? = { () throws(PluginError) in nil }
    ) {
        self.head = head
        self.next = next
    }

    /// The status code, 100 to 999.
    public var status: Int { head.status }

    /// The fields of the header.
    public var headers: HTTPFields { head.headers }

    /// Reads the rest of the body.
    ///
    /// - Parameter limit: The most bytes.
    /// - Throws: A ``PluginError``: `protocolViolation` if the body is longer, or the reason that it broke off.
    public func response(limit: Int) async throws(PluginError) -> HTTPResponse {
        var response = HTTPResponse(status: status, headers: headers)
        var parts = makeAsyncIterator()
        while let part = try await parts.next() {
            guard part.count <= limit - response.body.count else {
                throw PluginError(.protocolViolation, "the response has more than \(limit) bytes")
            }
            response.body += part
        }
        return response
    }

    /// Iterates over the parts of the body.
    public func makeAsyncIterator() -> Iterator {
        Iterator(first: head.body.isEmpty ? nil : head.body, following: next)
    }

    /// An iterator over the parts of the body.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var first: [UInt8]?
        fileprivate let following: @Sendable () async throws(PluginError) -> [UInt8]?

        /// Awaits the next part, of at least 1 byte; nil at the end.
        ///
        /// - Throws: A ``PluginError`` if the body breaks off: unavailable, timed out, cancelled, or `invalid` if another
        ///   task is waiting for a part.
        public mutating func next() async throws(PluginError) -> [UInt8]? {
            if let part = first {
                first = nil
                return part
            }
            return try await following()
        }
    }
}
