// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The default values of settings, which also determine their types.
struct SettingsDefaults: Sendable {
    private let values: JSONObject

    /// Reads the configuration's `defaults`.
    init(_ json: JSONValue) throws(PluginError) {
        do throws(ConnectorError) {
            values = try SettingsChange(json: json, path: "defaults").values
        } catch {
            throw PluginError(error)
        }
        for member in values.members where member.value == .null {
            throw PluginError(.invalid, "defaults.\(member.name) is null; omit it instead")
        }
        try SettingsDocument.checkSize(of: values, "the defaults")
    }

    /// The stored values, completed with the defaults of the other settings.
    func completing(_ stored: JSONObject) -> JSONObject {
        var settings = values
        for member in stored.members { settings[member.name] = member.value }
        return settings
    }

    /// Checks the types of new values.
    func check(_ change: SettingsChange) throws(PluginError) {
        for member in change.values.members where member.value != .null {
            guard let example = values[member.name], !member.value.hasType(of: example) else { continue }
            throw PluginError(
                .invalid,
                "the setting \"\(member.name)\" must be \(example.typeName), like its default, not \(member.value.kind)"
            )
        }
    }
}

extension JSONValue {
    /// Integers and fractions are one type, because JSON has only numbers.
    fileprivate var typeName: String { number == nil ? kind : "a number" }

    fileprivate func hasType(of other: JSONValue) -> Bool { typeName == other.typeName }
}
