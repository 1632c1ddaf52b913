// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorLoading

/// The content of the plugin directories, as a table.
struct PluginsDocument: Document {
    /// The files found.
    private let listing: PluginListing

    /// Lists the files found, and checks usable ones as the loader would.
    init(catalog: PluginCatalog) {
        listing = PluginListing(catalog)
    }

    func lines(_ style: TextStyle) -> [String] {
        let (directories, entries, problems) = (listing.directories, listing.entries, listing.problems)
        guard !entries.isEmpty else {
            let searched = directories.isEmpty ? "no directory" : directories.joined(separator: ", ")
            return ["no plugins found in \(style.shown(searched))"]
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
            for warning in listing.warnings[index] {
                table.append(note: "    " + style.paint("warning: ", .warning) + style.shown(warning))
            }
        }
        let broken = problems.count { !$0.isEmpty }
        let summary = "\(entries.count - broken) usable" + (broken == 0 ? "" : ", \(broken) not")
        return table.lines(style) + ["", summary]
    }

    var json: JSONValue { listing.json }
}
