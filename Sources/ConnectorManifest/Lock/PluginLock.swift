// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The plugins that a configuration may load, by their bytes: the content of `connectors.lock.json`.
///
/// It has an entry for each plugin, version and platform, sorted. Entries of other platforms are kept as they are.
package struct PluginLock: Sendable, Hashable {
    /// The file, for messages.
    package var file: String
    /// The entries, by id, then version, then platform.
    package private(set) var entries: [LockedPlugin] = []

    /// The version of the format.
    package static let formatVersion: Int64 = 1
    /// The greatest size of the file, in bytes.
    package static let sizeLimit = 4 << 20
    /// The end of the file's name, in place of `.json`.
    private static let ending = ".lock.json"

    /// Creates a lock without entries, under which nothing may be loaded.
    package init(file: String) {
        self.file = file
    }

    /// The path of the lock of a configuration: `connectors.lock.json` beside `connectors.json`.
    package static func file(of configuration: String) -> String {
        (configuration.hasSuffix(".json") ? String(configuration.dropLast(5)) : configuration) + ending
    }

    /// The entries of a plugin on one platform; several if the configuration names several versions.
    package func entries(of id: String, on platform: String = LockedPlugin.hostPlatform) -> [LockedPlugin] {
        entries.filter { $0.id == id && $0.platform == platform }
    }

    /// The entry of a version of a plugin on one platform.
    package func entry(
        of id: String,
        _ version: SemanticVersion,
        on platform: String = LockedPlugin.hostPlatform
    ) -> LockedPlugin? {
        entries(of: id, on: platform).first { $0.version == version }
    }

    /// Inserts an entry in order. Replaces the entry of the same plugin, version and platform.
    package mutating func set(_ entry: LockedPlugin) {
        remove { $0.id == entry.id && $0.version == entry.version && $0.platform == entry.platform }
        entries.insert(entry, at: entries.firstIndex { Self.precedes(entry, $0) } ?? entries.endIndex)
    }

    /// Removes entries.
    package mutating func remove(where isUnwanted: (LockedPlugin) -> Bool) {
        entries.removeAll(where: isUnwanted)
    }

    /// Appends an entry without sorting: call ``sort()`` after the last one.
    mutating func append(_ entry: LockedPlugin) { entries.append(entry) }

    /// Sorts the entries.
    mutating func sort() { entries.sort(by: Self.precedes) }

    /// The order of entries in the file.
    static func precedes(_ first: LockedPlugin, _ second: LockedPlugin) -> Bool {
        if first.id != second.id { return first.id < second.id }
        if first.version != second.version { return first.version < second.version }
        return first.platform < second.platform
    }

    /// The text of the file; equal entries yield equal text.
    package var text: String {
        let root: JSONObject = [
            "lock": .integer(Self.formatVersion), "plugins": .array(entries.map { .object($0.json) }),
        ]
        return JSONValue.object(root).serialized(pretty: true) + "\n"
    }
}

extension LockedPlugin {
    /// The entry as written to the file, with its members in a fixed order, and with sets and dictionaries sorted.
    fileprivate var json: JSONObject {
        func sorted<Value>(_ values: [String: Value], _ json: (Value) -> JSONValue) -> JSONValue {
            .object(JSONObject(values.sorted { $0.key < $1.key }.map { ($0.key, json($0.value)) }))
        }
        func list(_ names: Set<String>) -> JSONValue? {
            names.isEmpty ? nil : .array(names.sorted().map { .string($0) })
        }
        var object: JSONObject = [
            "id": .string(id), "version": .string(version.description), "platform": .string(platform),
            "sha256": .string(sha256), "size": .integer(Int64(size)),
        ]
        object["sidecar"] = sidecar.map { .string($0) }
        object["abi"] = [.integer(Int64(abi.lowerBound)), .integer(Int64(abi.upperBound))]
        object["capabilities"] = sorted(capabilities) { sorted($0) { .string($0.description) } }
        object["services"] = list(services)
        object["optionalServices"] = list(optionalServices)
        object["hosts"] = list(hosts)
        if !uses.isEmpty {
            object["uses"] = .object(JSONObject(uses.sorted { $0.name < $1.name }.map { ($0.name, $0.json) }))
        }
        if !dependencies.isEmpty {
            object["dependencies"] = .object(
                JSONObject(dependencies.sorted { $0.name < $1.name }.map { ($0.name, .string($0.sha256)) })
            )
        }
        return object
    }
}
