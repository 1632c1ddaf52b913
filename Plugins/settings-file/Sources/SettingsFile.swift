// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Keeps settings through the host's `storage/1`, and tells of every change through its `events/1`.
struct SettingsFile: SettingsPlugin {
    private let defaults: SettingsDefaults
    private let document: SettingsDocument
    private let host: Host

    init(configuration: PluginConfiguration, host: Host) throws {
        guard let storage = host.storage else {
            throw PluginError(.denied, "the host lends no storage/1")
        }
        defaults = try SettingsDefaults(configuration["defaults"] ?? [:])
        document = SettingsDocument(storage)
        self.host = host
    }

    /// Reads the settings, which proves that they are there, not that the disk has room for more.
    func open() async throws -> [Evidence] {
        let count = try await document.values().members.count
        return [.reachable("the storage answers; settings stored: \(count)")]
    }

    func settings() async throws -> JSONObject {
        defaults.completing(try await document.values())
    }

    func change(_ change: SettingsChange) async throws {
        try defaults.check(change)
        try await document.change { stored in
            let new = change.values.members.reduce(into: stored) { new, member in
                // A literal nil beside a value would be JSON's null.
                new[member.name] = member.value == .null ? JSONValue?.none : member.value
            }
            return (new, news(from: stored, to: new, of: change))
        } tell: { news in
            tell(news)
        }
    }

    /// Finishes the change that is under way.
    func close() async {
        await document.finish()
    }

    /// The values that a change makes different, defaults included.
    private func news(from old: JSONObject, to new: JSONObject, of change: SettingsChange) -> JSONObject {
        let (old, new) = (defaults.completing(old), defaults.completing(new))
        let changed = change.values.names.filter { old[$0] != new[$0] }
        return JSONObject(changed.map { ($0, new[$0] ?? .null) })
    }

    /// Emits what changed. The change is stored by now, whatever becomes of the event.
    private func tell(_ news: JSONObject) {
        guard !news.isEmpty else { return }
        do throws(PluginError) {
            try host.events.emit(SettingsChange.event, .object(news))
        } catch {
            host.log.log(
                .warning,
                "a change of settings was stored, but not announced",
                ["reason": .string(error.message)]
            )
        }
    }
}
