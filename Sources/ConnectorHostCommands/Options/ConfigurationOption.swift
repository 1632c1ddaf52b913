// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// Which configuration a command is about.
struct ConfigurationOption: ParsableArguments {
    /// The path as given; nil for connectors.json in the working directory.
    @Option(
        name: .customLong("config"),
        help: ArgumentHelp("The configuration file. (default: connectors.json)", valueName: "file"),
        completion: .file(extensions: ["json"])
    )
    private var given: String?

    /// The path that is meant.
    var file: String { given ?? "connectors.json" }

    /// Whether the user named the file, so that it must be there.
    var isExplicit: Bool { given != nil }

    /// Reads the file, finds the plugins that it names and checks it against them.
    ///
    /// - Throws: Everything that is wrong with the file.
    func resolve(
        _ options: ConnectorHost.Options
    ) throws(ConfigurationErrors) -> (resolved: ResolvedConfiguration, plugins: PluginLookup) {
        var plugins: PluginLookup?
        let resolved = try Configuration.load(file: file, environment: options.environment) { configuration in
            let lookup = PluginLookup(configuration: configuration, options: options)
            plugins = lookup
            return lookup.manifest
        }
        return (resolved, plugins ?? PluginLookup(configuration: resolved.configuration, options: options))
    }
}
