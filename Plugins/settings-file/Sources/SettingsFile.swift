// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Stores settings with the host's `storage/1`, and announces every change with `events/1`.
struct SettingsFile: SettingsPlugin {
    private let defaults: SettingsDefaults
    private let document: SettingsDocument
    private let host: Host

    init(configuration: PluginConfiguration, host: Host) throws {
        guard let storage = host.storage else {
            throw PluginError(.denied, "the host does not provide storage/1")
        }
        defaults = try SettingsDefaults(configuration["defaults"] ?? [:])
        document = SettingsDocument(storage)
        self.host = host
    }

    /// Reads the settings, which proves that they are readable, not that the disk has room for more.
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
                // In a conditional expression, a literal nil would become `JSONValue.null`.
                new[member.name] = member.value == .null ? JSONValue?.none : member.value
            }
            return (new, defaults.changes(from: stored, to: new))
        } announce: { changes in
            announce(changes)
        }
    }

    /// Awaits the change in progress.
    func close() async {
        await document.finish()
    }

    /// Emits the event. The change is already stored, even if this fails.
    private func announce(_ changes: JSONObject) {
        guard !changes.isEmpty else { return }
        do throws(PluginError) {
            try host.events.emit(SettingsChange.event, .object(changes))
        } catch {
            host.log.log(
                .warning,
                "a change of settings was stored, but not announced",
                ["reason": .string(error.message)]
            )
        }
    }
}
