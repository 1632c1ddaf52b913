// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost
internal import ConnectorManifest

/// The plugins of a configuration, and whether they match the lock.
struct LockDocument: Document {
    /// The findings.
    var examination: LockExamination
    /// Whether the lock was written.
    var isWritten = false
    /// Whether the command only checks and never writes.
    var isCheck = false
    /// The ids of the plugins to update; empty to add all new ones.
    var updates: [String] = []

    /// The state of a plugin after the command.
    private enum State: String {
        /// It matches the lock.
        case locked
        /// Added to the lock, or updated in it, by this command.
        case added, updated
        /// It is not in the lock.
        case missing
        /// It differs from the lock.
        case changed
    }

    private func state(of plugin: LockExamination.Plugin) -> State {
        if plugin.isLocked { return .locked }
        let isChosen = updates.isEmpty || updates.contains(plugin.found.id)
        guard plugin.locked != nil else { return isWritten && isChosen ? .added : .missing }
        return isWritten && isChosen ? .updated : .changed
    }

    private var shown: [LockExamination.Plugin] {
        updates.isEmpty ? examination.plugins : examination.plugins.filter { updates.contains($0.found.id) }
    }

    func lines(_ style: TextStyle) -> [String] {
        var lines = examination.warnings.map { style.paint("warning: ", .warning) + style.shown($0) }
        for plugin in shown {
            let state = state(of: plugin)
            if state == .locked, !isCheck, updates.isEmpty { continue }
            let mark: TextStyle.Mark =
                switch state {
                case .locked, .added, .updated: .good
                case .missing, .changed: isCheck ? .bad : .warning
                }
            let name = style.paint(style.shown(plugin.found.name), .strong)
            lines.append("\(style.paint(style.sign(mark), style.colour(mark))) \(name)  \(state.rawValue)")
            let changes = plugin.comparison?.changes ?? Self.wants(of: plugin.found)
            if state != .locked {
                lines += changes.flatMap { ChangeLines(change: $0).lines(style) }.map { "    " + $0 }
            }
        }
        let lock = style.shown(file)
        let count = examination.plugins.count
        let plugins = "\(count) plugin\(count == 1 ? "" : "s") for \(LockedPlugin.hostPlatform)"
        let isComplete = examination.isLocked && examination.plugins.allSatisfy(\.isLocked)
        if isWritten {
            lines.append("wrote \(lock): \(plugins)")
        } else if isComplete {
            lines.append("\(lock) is up to date: \(plugins)")
        } else if !examination.isLocked {
            lines.append("there is no \(lock)")
        } else if !updates.isEmpty {
            lines.append("\(lock) is unchanged")
        } else {
            let changed = examination.plugins.filter { !$0.isLocked && $0.locked != nil }.map(\.found.id)
            lines.append("\(lock) differs from what is there; nothing was written")
            if let first = changed.first {
                lines.append(
                    "    \(style.arrow) if the change is wanted: connector-host lock --update \(style.shown(first))"
                )
            }
        }
        return lines
    }

    /// The lock, as it was given.
    private var file: String { examination.lock.file.withGivenPaths }

    /// The capabilities, services and hosts that a new plugin wants.
    private static func wants(of plugin: LockedPlugin) -> [PluginChange] {
        plugin.capabilities.keys.sorted().map { PluginChange(.wants, .capability, $0, to: $0) }
            + plugin.services.union(plugin.optionalServices).sorted().map { PluginChange(.wants, .service, $0, to: $0) }
            + plugin.hosts.sorted().map { PluginChange(.wants, .host, $0, to: $0) }
    }

    var json: JSONValue {
        var object: JSONObject = [
            "version": 1, "file": .string(file), "platform": .string(LockedPlugin.hostPlatform),
            "written": .bool(isWritten),
            "plugins": .array(
                shown.map { plugin in
                    [
                        "id": .string(plugin.found.id), "version": .string(plugin.found.version.description),
                        "state": .string(state(of: plugin).rawValue), "sha256": .string(plugin.found.sha256),
                        "connectors": .array(plugin.connectors.map { .string($0) }),
                        "changes": .array((plugin.comparison?.changes ?? Self.wants(of: plugin.found)).map(\.json)),
                    ]
                }
            ),
        ]
        if !examination.warnings.isEmpty { object["warnings"] = .array(examination.warnings.map(JSONValue.string)) }
        return .object(object)
    }
}
