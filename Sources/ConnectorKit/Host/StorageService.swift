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

    /// Writes a value if the key still has the expected one, where nil stands for none.
    ///
    /// To change a part of a value, read it, change it and replace it, and begin again if that returns false. ``set(_:for:)``
    /// would undo what others write in between: another instance of the gate, because a reload opens the next one before
    /// the earlier one ends, or another host of the application.
    ///
    /// In a host that is too old for this, and by default in a type that conforms, the comparison and the change are two
    /// steps.
    ///
    /// - Returns: Whether the key had the expected value; if not, nothing has changed.
    func replace(_ expected: [UInt8]?, with value: [UInt8], for key: String) async throws(PluginError) -> Bool

    /// Removes a value; a missing value is not an error.
    func remove(_ key: String) async throws(PluginError)

    /// Lists the keys that start with a prefix, in the order of their bytes.
    func keys(startingWith prefix: String) async throws(PluginError) -> [String]
}

extension StorageService {
    /// Compares and writes in two steps.
    public func replace(
        _ expected: [UInt8]?,
        with value: [UInt8],
        for key: String
    ) async throws(PluginError) -> Bool {
        try await replaceInTwoSteps(expected, with: value, for: key)
    }

    func replaceInTwoSteps(
        _ expected: [UInt8]?,
        with value: [UInt8],
        for key: String
    ) async throws(PluginError) -> Bool {
        guard try await self.value(of: key) == expected else { return false }
        try await set(value, for: key)
        return true
    }
}
