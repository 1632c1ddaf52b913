// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
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

    /// Reads the file, finds the plugins it names, and checks it against them.
    ///
    /// - Parameter isSimulated: Whether the gates will be simulated, which then need no secrets and no images.
    /// - Throws: Every fault of the file.
    func resolve(
        _ options: ConnectorHost.Options,
        isSimulated: Bool = false
    ) throws(ConfigurationErrors) -> (resolved: ResolvedConfiguration, plugins: PluginLookup) {
        var plugins: PluginLookup?
        let resolved = try Configuration.load(
            file: file,
            environment: options.environment,
            isSimulated: isSimulated
        ) { configuration in
            let lookup = PluginLookup(configuration: configuration, options: options)
            plugins = lookup
            return { isSimulated ? lookup.interface($0) : lookup.manifest($0) }
        }
        return (resolved, plugins ?? PluginLookup(configuration: resolved.configuration, options: options))
    }
}
