// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A request that a vendor received, without its credentials.
public struct RecordedRequest: Sendable {
    /// The vendor's name.
    public var vendor: String
    /// The HTTP method.
    public var method: String
    /// The path and query below the vendor's root, without credentials.
    public var path: String
    /// The header fields, without credentials.
    public var headers: HTTPFields
    /// The body without content encoding and credentials.
    public var body: [UInt8]
    /// The status of the answer; 0 if a fault suppressed the answer.
    public var status: Int
    /// The time at which the request was complete.
    public var at: Timestamp

    /// The approximate memory use, in bytes.
    var size: Int {
        headers.fields.reduce(path.utf8.count + body.count + 128) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
