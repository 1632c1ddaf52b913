// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorControl
internal import ConnectorHost
internal import ConnectorLoading

/// The content of the plugin directories, as a table.
struct PluginsDocument: Document {
    /// The files found.
    private var listing: PluginListing
    /// The lock and the keys of the configuration.
    private let admission: PluginAdmission
    /// The process of the host whose images are shown; nil if none runs.
    private var process: Int64?
    /// How plugins fared in runners, by their index in the list; empty if that was not tried.
    private var probes: [Int: PluginProbe] = [:]

    /// Lists the files of a catalog and checks usable ones as the loader would.
    init(_ lookup: PluginLookup) {
        admission = lookup.admission
        listing = PluginListing(lookup.everything, admission: admission)
    }

    /// Loads and opens each usable plugin in a runner of its own, one after the other.
    ///
    /// - Throws: The exit status for the signal that ended the command, if there was one.
    mutating func probe() async throws(ExitCode) {
        let interruption = Interruption()
        for (index, entry) in listing.entries.enumerated() where listing.problems[index].isEmpty {
            guard let manifest = entry.manifest else { continue }
            probes[index] = await PluginProbe.run(entry.sidecar ?? entry.path, manifest, admission, interruption)
            if let status = interruption.exitStatus { throw status }
        }
    }

    /// Adds the images that the process of a host has loaded.
    mutating func add(_ images: [HeldImages], of process: Int64) {
        (listing.images, self.process) = (images, process)
    }

    /// Whether a plugin failed in its runner.
    var hasFailedProbe: Bool { probes.values.contains { $0.outcome == .fails } }

    func lines(_ style: TextStyle) -> [String] {
        let (directories, entries, problems) = (listing.directories, listing.entries, listing.problems)
        guard !entries.isEmpty else {
            let searched = directories.isEmpty ? "no directory" : directories.joined(separator: ", ")
            return warnings(style) + ["no plugins found in \(style.shown(searched))"] + memory(style)
        }
        var table = Table()
        table.append([
            Table.Cell("  PLUGIN", .faint), Table.Cell("VERSION", .faint), Table.Cell("CAPABILITIES", .faint),
            Table.Cell("LANGUAGE", .faint), Table.Cell("LEVEL", .faint), Table.Cell("FILE", .faint),
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
                Table.Cell(listing.certificates[index].map { "\($0.level)" } ?? ""),
                Table.Cell(style.shown(entry.path.withGivenPaths)),
            ])
            for problem in problems {
                let shown = ErrorLines(error: problem)
                for line in [shown.locatedHeadline(style)] + shown.details(style) { table.append(note: "    " + line) }
            }
            for line in probes[index]?.lines(style) ?? [] { table.append(note: "    " + line) }
            for warning in listing.warnings[index] {
                table.append(note: "    " + style.paint("warning: ", .warning) + style.shown(warning))
            }
        }
        let broken = problems.count { !$0.isEmpty }
        let summary = "\(entries.count - broken) usable" + (broken == 0 ? "" : ", \(broken) not")
        return table.lines(style) + warnings(style) + ["", summary] + memory(style)
    }

    /// The directories in which no plugin can be found.
    private func warnings(_ style: TextStyle) -> [String] {
        listing.directoryWarnings.map { style.paint("warning: ", .warning) + style.shown($0) }
    }

    /// The images in the memory of the host's process, which stay there until it ends.
    private func memory(_ style: TextStyle) -> [String] {
        guard let images = listing.images, let process, !images.isEmpty else { return [] }
        var table = Table()
        for file in images {
            table.append([
                Table.Cell("  " + style.shown(file.path)), Table.Cell(file.text),
                Table.Cell(style.shown(file.images.flatMap(\.connectors).joined(separator: ", ")), .faint),
            ])
        }
        return ["", "loaded by process \(process), until it ends:"] + table.lines(style)
    }

    var json: JSONValue {
        guard !probes.isEmpty, var object = listing.json.object, let plugins = object["plugins"]?.array else {
            return listing.json
        }
        object["plugins"] = .array(
            plugins.enumerated().map { index, plugin in
                guard let probe = probes[index], var object = plugin.object else { return plugin }
                object["probe"] = probe.json
                return .object(object)
            }
        )
        return .object(object)
    }
}
