// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorManifest

/// The differences between two images of a plugin.
struct DiffDocument: Document {
    /// The image in use.
    var old: LockedPlugin
    /// The image to take its place.
    var new: LockedPlugin
    /// The differences.
    var comparison: PluginComparison
    /// The leaves of the plugin, and the connectors that call them.
    var users: [User]

    /// A connector that depends on the plugin.
    struct User: Sendable {
        /// The connector's path.
        var path: String
        /// The connector that it calls, if its plugin uses gates; nil for a leaf of the plugin itself.
        var uses: String?
    }

    func lines(_ style: TextStyle) -> [String] {
        let (old, new) = (style.shown(old.name), style.shown(new.name))
        var lines = [style.paint("\(old) \(style.arrow) \(new)", .strong)]
        lines += comparison.changes.flatMap { ChangeLines(change: $0).lines(style) }.map { "  " + $0 }
        let mark: TextStyle.Mark = comparison.isCompatible ? .good : .bad
        let count = comparison.changes.count { $0.effect == .breaks }
        let verdict =
            comparison.isCompatible
            ? "compatible" : "not compatible: \(count) change\(count == 1 ? " breaks" : "s break") callers or files"
        lines.append("\(style.paint(style.sign(mark), style.colour(mark))) \(verdict)")
        let verb = comparison.isCompatible ? "used by" : "breaks"
        for user in users {
            lines.append(
                "    \(verb) \(style.shown(user.path))" + (user.uses.map { ", which calls \(style.shown($0))" } ?? "")
            )
        }
        return lines
    }

    var json: JSONValue {
        [
            "version": 1, "compatible": .bool(comparison.isCompatible),
            "old": Self.json(old), "new": Self.json(new),
            "changes": .array(comparison.changes.map(\.json)),
            "connectors": .array(
                users.map { user in
                    var object: JSONObject = ["path": .string(user.path)]
                    object["uses"] = user.uses.map { .string($0) }
                    return .object(object)
                }
            ),
        ]
    }

    private static func json(_ plugin: LockedPlugin) -> JSONValue {
        [
            "id": .string(plugin.id), "version": .string(plugin.version.description),
            "sha256": .string(plugin.sha256), "size": .integer(Int64(plugin.size)),
        ]
    }
}
