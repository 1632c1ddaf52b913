// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// New values of several settings, which take effect atomically: all or none.
///
/// ```json
/// {"theme": "dark", "window.width": 1280, "nickname": null}
/// ```
///
/// The argument of `change`, and the payload of the event ``event`` that a plugin of `settings/1` emits.
public struct SettingsChange: Sendable, Hashable {
    /// The new values by key. In a request, null removes the setting; in an event, it means that the setting no longer
    /// has a value, not even a default.
    public private(set) var values: JSONObject

    /// The name of the event that announces a change.
    public static let event = "settings-changed"
    /// The longest key, in bytes.
    public static let keyLimit = 128
    /// The most settings in one change, and in one plugin.
    public static let countLimit = 1000
    /// The deepest allowed nesting of a value, which is a member of an object in a change, in an event and on the disk.
    package static let depthLimit = JSONParser.depthLimit - 1

    /// Creates an empty change.
    public init() {
        values = JSONObject()
    }

    /// Reads a change.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` unless it is an object with at most ``countLimit`` members
    ///   whose names are valid keys, or if a value is nested deeper than 127 levels or has a number that is not finite.
    public init(json: JSONValue, path: String = "changes") throws(ConnectorError) {
        let object = try ModelReader(json, path).object
        guard object.members.count <= Self.countLimit else {
            throw ConnectorError(
                .invalid,
                "\(path) has \(object.members.count) settings; the limit is \(Self.countLimit)"
            )
        }
        for member in object.members {
            try Self.checkKey(member.name)
            try Self.check(member.value, for: member.name)
        }
        values = object
    }

    /// Changes a setting; null removes it.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` if the key is invalid, see ``checkKey(_:)``, or if the value is
    ///   nested deeper than 127 levels or has a number that is not finite.
    public mutating func set(_ key: String, to value: JSONValue) throws(ConnectorError) {
        try Self.checkKey(key)
        try Self.check(value, for: key)
        values[key] = value
    }

    /// Checks that a value can be stored and announced: that it is not nested too deeply, and has only finite numbers.
    package static func check(_ value: JSONValue, for key: String) throws(ConnectorError) {
        try value.checkReadable(depthLimit, named: "the setting \"\(key.prefix(keyLimit))\"")
    }

    /// The JSON form that operations take, and events carry.
    public var json: JSONValue { .object(values) }

    /// Checks a key: 1 to ``keyLimit`` ASCII letters, digits, `.`, `_` and `-`.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that names the key.
    public static func checkKey(_ key: String) throws(ConnectorError) {
        let isKey = key.utf8.allSatisfy { $0.isWordCharacter || [0x2D, 0x2E].contains($0) }
        guard isKey, (1...keyLimit).contains(key.utf8.count) else {
            throw ConnectorError(
                .invalid,
                "\"\(key.prefix(40))\" is not a valid settings key",
                fix: "use 1 to \(keyLimit) letters, digits, '.', '_' and '-'"
            )
        }
    }
}
