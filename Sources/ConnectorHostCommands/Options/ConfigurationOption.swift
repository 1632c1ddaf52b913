// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorConfiguration
internal import ConnectorHost

/// The configuration that a command uses.
struct ConfigurationOption: ParsableArguments {
    /// The path as given; nil for connectors.json in the working directory.
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration file. (default: connectors.json)", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    private var path: String?

    /// The path of the file.
    var file: String { path ?? "connectors.json" }

    /// Whether the user named the file, so that it must exist.
    var isExplicit: Bool { path != nil }

    /// Reads the file, finds the plugins that it names, and checks the file against them.
    ///
    /// - Throws: Every fault of the file.
    func resolve(_ source: ConfigurationSource) throws(ConfigurationErrors) -> ConfigurationSource.Checked {
        let checked = try source.read(file: file)
        try Self.check(source.request, checked.resolved)
        return checked
    }

    /// Checks that the connectors whose simulators the command names are leaves that would open.
    private static func check(
        _ simulation: SimulationRequest?,
        _ resolved: ResolvedConfiguration
    ) throws(ConfigurationErrors) {
        let unknown = (simulation?.simulators.keys.sorted() ?? []).filter { resolved.leaves[$0] == nil }
        let errors = unknown.map { path in
            ConnectorError(
                .unknownConnector,
                "--answers names \"\(path.excerpt)\", which is not a leaf that would open",
                fix: suggestion(for: path, among: resolved.leaves.keys.sorted())
            )
        }
        if !errors.isEmpty { throw ConfigurationErrors(errors, omitted: 0) }
    }
}
