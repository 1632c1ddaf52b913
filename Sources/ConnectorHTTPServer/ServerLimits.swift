// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a server accepts from one connection, and for how long it waits.
package struct ServerLimits: Sendable {
    /// The most connections at once.
    package var connections = 512
    /// The longest wait for a whole request, and for a client to take each part of the answer.
    package var patience: Duration = .seconds(10)
    /// The most bytes of a request's line and header fields together.
    package var head = 16 << 10
    /// The most header fields of a request.
    package var fields = 100
    /// The most bytes of the chunk extensions and trailer fields of one request.
    package var chunkOverhead = 4 << 10
    /// The requests of one client that are answered before others have their turn.
    package var burst = 2
    /// The bytes read at once while no body is awaited, and so the most that are read ahead of an answer.
    package var readSize = 2 << 10
    /// The bytes read at once while a body is awaited.
    package var bodyReadSize = 64 << 10
    /// The bytes written at once; each part has ``patience`` to leave.
    package var writeSize = 64 << 10
    /// The most bytes that are discarded after a last answer, so that the client can read it before the end.
    package var discarded = 256 << 10

    /// The limits of every server of this package.
    package init() {}
}
