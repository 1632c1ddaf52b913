// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorPlatform

/// The limits of a server and its connections.
package struct ServerLimits: Sendable {
    /// The maximum number of concurrent connections: 512, or what ``connectionLimit(amongDescriptors:)`` says if that is less.
    package var connections: Int = min(512, Self.connectionLimit(amongDescriptors: DescriptorLimit.current))
    /// The timeout for a whole request, and for a client to read each part of the response.
    package var timeout: Duration = .seconds(10)
    /// Whether a client must also read each part of a stream within ``timeout``. Without it, only the end of the client ends a stream
    /// that no one reads, which suits clients on the same machine: the kernel always reports their end.
    package var hasStreamTimeout = true
    /// The maximum size of the request line and the header fields together, in bytes.
    package var head = 16 << 10
    /// The maximum number of header fields of a request.
    package var fields = 100
    /// The maximum size of the chunk extensions and trailer fields of one request, in bytes.
    package var chunkOverhead = 4 << 10
    /// The number of pipelined requests of one client to handle before other connections get their turn.
    package var burst = 2
    /// The size of a read while no body is awaited, in bytes; therefore also the maximum that is read ahead of a response.
    package var readSize = 2 << 10
    /// The size of a read while a body is awaited, in bytes.
    package var bodyReadSize = 64 << 10
    /// The size of a write, in bytes; each one must complete within ``timeout``.
    package var writeSize = 64 << 10
    /// The maximum number of bytes to discard after the last response, so that the client can read it before the close.
    package var discarded = 256 << 10

    /// Creates the default limits, which the servers of this package use; that of the API on its socket has no stream timeout.
    package init() {}

    /// The maximum number of connections of a server that leaves the process descriptors for everything else: a quarter, or an eighth of
    /// fewer than a thousand.
    static func connectionLimit(amongDescriptors count: Int) -> Int { max(4, count / (count < 1000 ? 8 : 4)) }

    /// How many connections the server accepts at once, so that a flood delays other clients only briefly.
    var acceptedAtOnce: Int { max(1, min(64, connections / 8)) }
    /// How many connections may be open, those included that make room for others and have not closed yet, before more are accepted.
    var openConnections: Int { connections + max(1, connections / 4) }
}
