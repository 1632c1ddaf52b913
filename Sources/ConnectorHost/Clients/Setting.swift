// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A value an application reads from settings: one setting, or a value computed from several.
public protocol ReadableSetting<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// The keys of the settings that the value depends on.
    var keys: [String] { get }

    /// Reads the value from settings.
    ///
    /// - Throws: `invalid`, with the key, if a setting's value has the wrong type.
    func value(in settings: JSONObject) throws(ConnectorError) -> Value
}

/// A setting with a type and a default value, declared once.
///
/// ```swift
/// enum Settings {
///     static let theme = Setting("theme", default: "light")
///     static let volume = Setting("audio.volume", default: 0.8)
/// }
///
/// try await settings.set("dark", for: Settings.theme)
/// let volume = try await settings.value(of: Settings.volume)
/// ```
public struct Setting<Value: Codable & Sendable>: ReadableSetting {
    /// The key: see `SettingsChange.checkKey(_:)`.
    public let key: String
    /// The value if the connector has none.
    public let defaultValue: Value

    /// Declares a setting.
    ///
    /// - Parameters:
    ///   - key: 1 to 128 ASCII letters, digits, `.`, `_` and `-`; calls throw `invalid` for any other key.
    ///   - defaultValue: The value if the connector has none.
    public init(_ key: String, default defaultValue: Value) {
        self.key = key
        self.defaultValue = defaultValue
    }

    /// The one key.
    public var keys: [String] { [key] }

    /// The setting's value, or the default.
    public func value(in settings: JSONObject) throws(ConnectorError) -> Value {
        guard let json = settings[key] else { return defaultValue }
        do throws(ConnectorError) {
            return try json.decode(as: Value.self)
        } catch {
            throw ConnectorError(
                .invalid,
                "the setting \"\(key)\" is \(json.kind), which does not fit \(Value.self)",
                fix: "set a value of that type, or remove the setting to use the default",
                cause: error.message
            )
        }
    }
}

/// A value computed from other settings, all read at the same moment.
///
/// ```swift
/// let name = ComputedSetting(firstName, lastName) { first, last in "\(first) \(last)" }
/// ```
public struct ComputedSetting<Value: Sendable>: ReadableSetting {
    /// The keys of the settings that the value is computed from.
    public let keys: [String]
    private let compute: @Sendable (JSONObject) throws(ConnectorError) -> Value

    /// Declares a computed value.
    ///
    /// - Parameters:
    ///   - parts: The settings to compute from; they may be computed themselves.
    ///   - compute: Computes the value, on the reader's thread.
    public init<each Part: ReadableSetting>(
        _ parts: repeat each Part,
        compute: @escaping @Sendable (repeat (each Part).Value) throws(ConnectorError) -> Value
    ) {
        var keys: [String] = []
        for part in repeat each parts { keys += part.keys }
        self.keys = keys
        self.compute = { settings throws(ConnectorError) in
            try compute(repeat try (each parts).value(in: settings))
        }
    }

    /// The value computed from these settings.
    public func value(in settings: JSONObject) throws(ConnectorError) -> Value {
        try compute(settings)
    }
}

extension SettingsChange {
    /// Changes a setting.
    ///
    /// - Throws: `invalid` for a value that JSON cannot express, or a malformed key.
    public mutating func set<Value>(_ value: Value, for setting: Setting<Value>) throws(ConnectorError) {
        let json = try JSONValue(encoding: value)
        guard json != .null else {
            throw ConnectorError(
                .invalid,
                "the setting \"\(setting.key)\" cannot be set to nil",
                fix: "remove the setting"
            )
        }
        try set(setting.key, to: json)
    }

    /// Removes a setting.
    ///
    /// - Throws: `invalid` for a malformed key.
    public mutating func remove<Value>(_ setting: Setting<Value>) throws(ConnectorError) {
        try set(setting.key, to: .null)
    }
}
