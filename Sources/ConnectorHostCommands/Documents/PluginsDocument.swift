// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorLoading
internal import ConnectorManifest

/// The content of the plugin directories, as a table.
struct PluginsDocument: Document {
    /// The directories searched.
    var directories: [String]
    /// The files found.
    var entries: [PluginEntry]
    /// For each file, everything that would stop it from loading.
    private var problems: [[ConnectorError]]
    /// For each file, who else could change it.
    private var warnings: [[String]]

    /// Takes the files found, and checks usable ones as the loader would.
    init(catalog: PluginCatalog) {
        directories = catalog.directories
        entries = catalog.entries
        problems = catalog.entries.map { Self.problems(of: $0, in: catalog) }
        warnings = catalog.entries.map { entry in
            PluginTrust.concerns(
                image: entry.path == entry.sidecar ? nil : entry.path,
                sidecar: entry.sidecar,
                within: catalog.directories
            )
        }
    }

    /// What would stop a file from loading, also that another one is meant to be the same plugin.
    private static func problems(of entry: PluginEntry, in catalog: PluginCatalog) -> [ConnectorError] {
        guard let candidate = entry.candidate else { return [entry.error].compactMap(\.self) }
        var problems = PluginInspection(path: entry.sidecar ?? entry.path).problems
        do throws(ConnectorError) {
            _ = try catalog.find(candidate.manifest.id, version: candidate.manifest.version)
        } catch {
            problems.append(error)
        }
        return problems
    }

    func lines(_ style: TextStyle) -> [String] {
        guard !entries.isEmpty else {
            let places = directories.isEmpty ? "no directory" : directories.joined(separator: ", ")
            return ["no plugins found in \(style.shown(places))"]
        }
        var table = Table()
        table.append([
            Table.Cell("  PLUGIN", .faint), Table.Cell("VERSION", .faint), Table.Cell("CAPABILITIES", .faint),
            Table.Cell("LANGUAGE", .faint), Table.Cell("FILE", .faint),
        ])
        for (index, (entry, problems)) in zip(entries, problems).enumerated() {
            let mark: TextStyle.Mark = problems.isEmpty ? .good : .bad
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
            for problem in problems {
                let shown = ErrorLines(error: problem)
                for line in [shown.locatedHeadline(style)] + shown.details(style) { table.append(note: "    " + line) }
            }
            for warning in warnings[index] {
                table.append(note: "    " + style.paint("warning: ", .warning) + style.shown(warning))
            }
        }
        let broken = problems.count { !$0.isEmpty }
        let summary = "\(entries.count - broken) usable" + (broken == 0 ? "" : ", \(broken) not")
        return table.lines(style) + ["", summary]
    }

    var json: JSONValue {
        [
            "version": 1,
            "directories": .array(directories.map(JSONValue.string)),
            "plugins": .array(entries.indices.map(json(at:))),
        ]
    }

    private func json(at index: Int) -> JSONValue {
        let (entry, problems) = (entries[index], problems[index])
        var object = JSONObject()
        object["path"] = .string(entry.path)
        object["sidecar"] = entry.sidecar.map(JSONValue.string)
        object["usable"] = .bool(problems.isEmpty)
        if let manifest = entry.manifest {
            object["id"] = .string(manifest.id)
            object["version"] = .string(manifest.version.description)
            object["documentation"] = .string(manifest.documentation)
            object["language"] = manifest.language.map(JSONValue.string)
            object["capabilities"] = .array(manifest.capabilities.map { .string($0.id.description) })
        }
        object["error"] = problems.first.map(\.json)
        if problems.count > 1 { object["problems"] = .array(problems.map(\.json)) }
        if !warnings[index].isEmpty { object["warnings"] = .array(warnings[index].map(JSONValue.string)) }
        return .object(object)
    }
}
