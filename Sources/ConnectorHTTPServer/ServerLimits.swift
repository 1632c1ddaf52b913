// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The limits of a server and its connections.
package struct ServerLimits: Sendable {
    /// The maximum number of concurrent connections.
    package var connections = 512
    /// The timeout for a whole request, and for a client to read each part of the response.
    package var timeout: Duration = .seconds(10)
    /// Whether a client must also read each part of a stream within ``timeout``. Without it, only the end of the client ends a stream
    /// that nobody reads, which suits clients on the same machine: the kernel always tells of their end.
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
}
