// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The HTTP traffic of one gate.
public struct HTTPCounters: Sendable, Hashable {
    /// Requests sent or attempted; a request and its redirects count once.
    public var requests: UInt64 = 0
    /// Requests without a response; a response of any status is not a failure.
    public var failures: UInt64 = 0
    /// Responses from the cache, whether the server confirmed them or was not asked.
    public var cached: UInt64 = 0
    /// Bytes of request bodies, as sent.
    public var bytesSent: UInt64 = 0
    /// Bytes of response bodies, as received.
    public var bytesReceived: UInt64 = 0
    /// The HTTP status of the last response; nil before the first.
    public var lastStatus: UInt32?

    /// Creates counters at zero.
    package init() {}
}
