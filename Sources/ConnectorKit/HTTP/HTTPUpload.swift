// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The body of a request that comes in parts, as much of it at a time as the server takes.
///
/// The host inserts no secrets into it, and does not compress it.
public struct HTTPUpload: Sendable {
    /// In bytes; nil if it is not known, which some servers refuse (HTTP 411).
    public var length: UInt64?
    /// Awaits the next part, of any size; nil at the end.
    public var next: @Sendable () async throws(PluginError) -> [UInt8]?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - length: In bytes; nil if it is not known.
    ///   - next: Awaits the next part, of any size; nil at the end. Called by one task at a time.
    public init(
        length: UInt64? = nil,
        next: @escaping @Sendable () async throws(PluginError) -> [UInt8]?
    ) {
        self.length = length
        self.next = next
    }
}
