// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// `settings/1` at a used gate.
public struct UsedSettings: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `settings/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Reads a setting; nil if it has no value.
    public func value(of key: String) async throws(PluginError) -> JSONValue? {
        let value = try await gate.call("get", ["key": .string(key)])
        // Plain `nil` would be JSON's null.
        return value == .null ? JSONValue?.none : value
    }

    /// Sets the value of a setting.
    public func set(_ value: JSONValue, for key: String) async throws(PluginError) {
        _ = try await gate.call("set", ["key": .string(key), "value": value])
    }

    /// Removes a setting's value; a setting without a value is not an error.
    public func remove(_ key: String) async throws(PluginError) {
        _ = try await gate.call("remove", ["key": .string(key)])
    }

    /// Reads every setting whose key starts with the prefix.
    public func list(startingWith prefix: String = "") async throws(PluginError) -> JSONObject {
        try await gate.call("list", prefix.isEmpty ? [:] : ["prefix": .string(prefix)]) { json throws(ConnectorError) in
            guard let settings = json.object else {
                throw ConnectorError(.invalid, "expected an object of settings, not \(json.kind)")
            }
            return settings
        }
    }

    /// Changes several settings: all of them, or none if it throws.
    public func change(_ change: SettingsChange) async throws(PluginError) {
        _ = try await gate.call("change", ["changes": change.json])
    }
}
