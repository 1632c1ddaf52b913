// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorScaffold

/// A project that was created.
struct ProjectDocument: Document {
    /// The project's folder.
    var folder: String
    /// The description of the project.
    var project: Project
    /// The paths of its files.
    var files: [String]

    func lines(_ style: TextStyle) -> [String] {
        let name = style.paint(style.shown(folder), .strong)
        let own = files.filter { !$0.hasPrefix("generated/") }
        return ["\(style.paint(style.sign(.good), style.colour(.good))) \(name)  \(files.count) files"]
            + own.map { "  \(style.shown($0))" }
            + ["  generated/  \(files.count - own.count) files", ""]
            + ["next: cd \(style.shown(folder)) && make test"]
    }

    var json: JSONValue {
        [
            "version": 1, "folder": .string(folder), "name": .string(project.name),
            "language": .string(project.language.rawValue), "capability": .string(project.capability),
            "files": .array(files.map(JSONValue.string)),
        ]
    }
}

/// A project that was updated for this host.
struct ProjectUpdateDocument: Document {
    /// The project's folder.
    var folder: String
    /// What happened to its files.
    var update: ProjectUpdate

    func lines(_ style: TextStyle) -> [String] {
        var lines: [String] = []
        func add(_ paths: [String], _ mark: TextStyle.Mark, _ text: (String) -> String) {
            for path in paths {
                lines.append("\(style.paint(style.sign(mark), style.colour(mark))) \(text(style.shown(path)))")
            }
        }
        add(update.written, .good) { "\($0)  written" }
        add(update.removed, .good) { "\($0)  removed" }
        add(update.kept, .warning) { "\($0)  was edited, and stays" }
        add(update.conflicts, .bad) { "\($0)  was edited, and stays; this host's text is in \($0).new" }
        let versions = update.versions
        let change = versions.old == versions.new ? versions.new : "\(versions.old) → \(versions.new)"
        lines.append("\(style.shown(folder)): connector-host \(style.shown(change))")
        return lines
    }

    var json: JSONValue {
        [
            "version": 1, "folder": .string(folder), "from": .string(update.versions.old),
            "to": .string(update.versions.new), "written": .array(update.written.map(JSONValue.string)),
            "removed": .array(update.removed.map(JSONValue.string)),
            "kept": .array(update.kept.map(JSONValue.string)),
            "conflicts": .array(update.conflicts.map(JSONValue.string)),
        ]
    }
}
