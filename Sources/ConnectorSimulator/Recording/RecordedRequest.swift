// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest

/// One request a vendor received, without the credentials it carried.
package struct RecordedRequest: Sendable {
    /// The vendor's name.
    package var vendor: String
    /// The verb.
    package var method: String
    /// Path and query below the vendor's root.
    package var path: String
    /// As sent.
    package var headers: HTTPFields
    /// Without its content encoding.
    package var body: [UInt8]
    /// What was answered; 0 when a fault left the request without an answer.
    package var status: Int
    /// When the request was complete.
    package var at: WallTime

    /// About how much memory it holds, in bytes.
    var size: Int {
        headers.fields.reduce(path.utf8.count + body.count + 128) { $0 + $1.name.utf8.count + $1.value.utf8.count }
    }
}
