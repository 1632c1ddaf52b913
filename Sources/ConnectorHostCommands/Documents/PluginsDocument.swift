// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// What stands in the plugin directories, as a table.
struct PluginsDocument: Document {
    /// Where it was looked.
    var directories: [String]
    /// What was found.
    var entries: [PluginEntry]

    /// Takes everything that was found.
    init(catalog: PluginCatalog) {
        directories = catalog.directories
        entries = catalog.entries
    }

    func lines(_ style: TextStyle) -> [String] {
        guard !entries.isEmpty else {
            let places = directories.isEmpty ? "no directory" : directories.joined(separator: ", ")
            return ["no plugins found; looked in \(style.shown(places))"]
        }
        var table = Table()
        table.append([
            Table.Cell("  PLUGIN", .faint), Table.Cell("VERSION", .faint), Table.Cell("CAPABILITIES", .faint),
            Table.Cell("LANGUAGE", .faint), Table.Cell("FILE", .faint),
        ])
        for entry in entries {
            let mark: TextStyle.Mark = entry.error == nil ? .good : .bad
            let name = entry.manifest?.id ?? "?"
            table.append([
                Table.Cell([(style.sign(mark) + " ", style.colour(mark)), (style.shown(name), nil)]),
                Table.Cell(style.shown(entry.manifest?.version.description ?? "")),
                Table.Cell(
                    style.shown(entry.manifest?.capabilities.map(\.id.description).joined(separator: " ") ?? "")
                ),
                Table.Cell(style.shown(entry.manifest?.language ?? "")),
                Table.Cell(style.shown(entry.path)),
            ])
            guard let error = entry.error else { continue }
            let shown = ErrorLines(error: error)
            for line in [shown.headline(style)] + shown.details(style) { table.append(note: "    " + line) }
        }
        let broken = entries.count { $0.error != nil }
        let summary = "\(entries.count - broken) usable" + (broken == 0 ? "" : ", \(broken) not")
        return table.lines(style) + ["", summary]
    }

    var json: JSONValue {
        [
            "version": 1,
            "directories": .array(directories.map(JSONValue.string)),
            "plugins": .array(entries.map(json)),
        ]
    }

    private func json(_ entry: PluginEntry) -> JSONValue {
        var object = JSONObject()
        object["path"] = .string(entry.path)
        object["sidecar"] = entry.sidecar.map(JSONValue.string)
        object["usable"] = .bool(entry.error == nil)
        if let manifest = entry.manifest {
            object["id"] = .string(manifest.id)
            object["version"] = .string(manifest.version.description)
            object["documentation"] = .string(manifest.documentation)
            object["language"] = manifest.language.map(JSONValue.string)
            object["capabilities"] = .array(manifest.capabilities.map { .string($0.id.description) })
        }
        object["error"] = entry.error.map(\.json)
        return .object(object)
    }
}
