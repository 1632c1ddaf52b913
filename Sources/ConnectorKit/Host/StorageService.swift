// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A few values of the gate that survive a restart (`storage/1`): a cursor, a token, a setting. Not for secrets.
///
/// Keys have 1 to 128 bytes, values at most 64 KiB, everything together at most 1 MiB. A change returns once it is on
/// disk, which takes milliseconds and blocks no thread of Swift's cooperative pool. The calls of one gate take effect
/// in order.
public protocol StorageService: Sendable {
    /// Reads a value; nil if the key has none.
    func value(of key: String) async throws(PluginError) -> [UInt8]?

    /// Writes a value, which may be empty.
    func set(_ value: [UInt8], for key: String) async throws(PluginError)

    /// Removes a value; a missing value is not an error.
    func remove(_ key: String) async throws(PluginError)

    /// Lists the keys that start with a prefix, in the order of their bytes.
    func keys(startingWith prefix: String) async throws(PluginError) -> [String]
}
