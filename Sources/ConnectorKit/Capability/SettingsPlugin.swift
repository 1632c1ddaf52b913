// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `settings/1`. Its manifest names the service `events/1`, and omits the operations that it cannot do.
public protocol SettingsPlugin: Plugin {
    /// The value of every setting that has one, defaults included.
    func settings() async throws -> JSONObject

    /// Changes several settings atomically: all of them, or none if it throws.
    ///
    /// Concurrent changes take effect one at a time. Each emits `SettingsChange.event`, in the same order, with the
    /// values that it changed.
    ///
    /// - Throws: A ``PluginError`` of status `invalid` for a value of the wrong type, `tooLarge` beyond the plugin's
    ///   limits, `unavailable` if the change could not be stored.
    func change(_ change: SettingsChange) async throws
}

extension SettingsPlugin {
    /// The operation `get`; null for a setting without a value.
    public func get(key: String) async throws -> JSONValue {
        try SettingsChange.checkKey(key)
        return try await settings()[key] ?? .null
    }

    /// The operation `set`.
    public func set(key: String, value: JSONValue) async throws {
        guard value != .null else {
            throw PluginError(.invalid, "a setting cannot be null; remove \"\(key.prefix(40))\" instead")
        }
        try await change(key, to: value)
    }

    /// The operation `remove`; a setting without a value is not an error.
    public func remove(key: String) async throws {
        try await change(key, to: .null)
    }

    /// The operation `list`: values by key, in the order of the keys' bytes.
    public func list(prefix: String?) async throws -> JSONValue {
        let members = try await settings().members.filter { $0.name.utf8.starts(with: (prefix ?? "").utf8) }
            .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
        return .object(JSONObject(members.map { ($0.name, $0.value) }))
    }

    /// The operation `change`.
    public func change(changes: JSONValue) async throws {
        try await change(SettingsChange(json: changes))
    }

    private func change(_ key: String, to value: JSONValue) async throws {
        var change = SettingsChange()
        try change.set(key, to: value)
        try await self.change(change)
    }
}
