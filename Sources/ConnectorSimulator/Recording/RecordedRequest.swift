// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorManifest

/// One request a vendor received, without the credentials it carried.
public struct RecordedRequest: Sendable {
    /// The vendor's name.
    public var vendor: String
    /// The verb.
    public var method: String
    /// Path and query below the vendor's root.
    public var path: String
    /// As sent.
    public var headers: HTTPFields
    /// Without its content encoding.
    public var body: [UInt8]
    /// What was answered; 0 when a fault left the request without an answer.
    public var status: Int
    /// When the request was complete.
    public var at: WallTime

    /// About how much memory it holds, in bytes.
    var size: Int {
        headers.fields.reduce(path.utf8.count + body.count + 128) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
