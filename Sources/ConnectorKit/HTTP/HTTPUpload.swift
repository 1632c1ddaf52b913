// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A request body that is sent in parts, as fast as the server takes them.
///
/// The host inserts no secrets into it, and does not compress it.
public struct HTTPUpload: Sendable {
    /// The length in bytes; nil if unknown, which some servers refuse (HTTP 411).
    public var length: UInt64?
    /// Awaits the next part, of any size; nil at the end.
    public var next: @Sendable () async throws(PluginError) -> [UInt8]?

    /// Creates a body.
    ///
    /// - Parameters:
    ///   - length: The length in bytes; nil if unknown.
    ///   - next: Awaits the next part, of any size; nil at the end. Called by one task at a time.
    public init(
        length: UInt64? = nil,
        next: @escaping @Sendable () async throws(PluginError) -> [UInt8]?
    ) {
        self.length = length
        self.next = next
    }
}
