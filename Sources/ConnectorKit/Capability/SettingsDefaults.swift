// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorCapabilities

/// The default values of settings, which also determine their types.
package struct SettingsDefaults: Sendable {
    /// The greatest total size of all settings as JSON, in bytes. A value of `storage/1` and the JSON of an event are
    /// limited to 65,536 bytes.
    package static let byteLimit = 60 * 1024

    private let values: JSONObject

    /// Reads the configuration's `defaults`.
    package init(_ json: JSONValue) throws(PluginError) {
        do throws(ConnectorError) {
            values = try SettingsChange(json: json, path: "defaults").values
        } catch {
            throw PluginError(error)
        }
        for member in values.members where member.value == .null {
            throw PluginError(.invalid, "defaults.\(member.name) is null; omit it instead")
        }
        try Self.checkSize(of: values, "the defaults")
    }

    /// The stored values, completed with the defaults of the other settings.
    package func completing(_ stored: JSONObject) -> JSONObject {
        var settings = values
        for member in stored.members { settings[member.name] = member.value }
        return settings
    }

    /// The effective values, defaults included, that differ once the stored values change; null for a setting that no
    /// longer has a value.
    package func changes(from old: JSONObject, to new: JSONObject) -> JSONObject {
        let (old, new) = (completing(old), completing(new))
        let names = new.names + old.names.filter { new[$0] == nil }
        return JSONObject(names.filter { old[$0] != new[$0] }.map { ($0, new[$0] ?? .null) })
    }

    /// Throws if there are more than `SettingsChange.countLimit` values, or if they exceed ``byteLimit`` as JSON.
    package static func checkSize(of values: JSONObject, _ what: String) throws(PluginError) {
        let count = values.members.count
        guard count <= SettingsChange.countLimit else {
            throw PluginError(.tooLarge, "\(what) would be \(count) values; the limit is \(SettingsChange.countLimit)")
        }
        let size = JSONValue.object(values).utf8().count
        guard size <= byteLimit else {
            throw PluginError(.tooLarge, "\(what) would have \(size) bytes as JSON; the limit is \(byteLimit)")
        }
    }

    /// Checks the types of new values.
    package func check(_ change: SettingsChange) throws(PluginError) {
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
