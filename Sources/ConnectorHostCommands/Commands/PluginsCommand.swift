// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// `connector-host plugins`: lists every file in the plugin directories, usable or not, without running any that is not to be probed.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "List every plugin, and why a file is not usable.",
        discussion: """
            Searches the directories in the configuration, those in CONNECTOR_PLUGIN_PATH, and the directory of the program. No
            plugin code runs, but with --probe: then each usable plugin is really loaded and opened, in a runner that is thrown away
            afterwards. Without a connectors.json, only the latter two are searched.

            Exit status: 0, even if a file is not usable; 1 if a plugin fails in its runner; 2 if the configuration cannot be read; 64 for wrong usage.

            Examples:
              connector-host plugins
              CONNECTOR_PLUGIN_PATH=build connector-host plugins --json
              connector-host plugins --probe
            """
    )

    @OptionGroup var file: ConfigurationOption

    @Flag(help: "Really load and open each usable plugin, in a runner that is thrown away.")
    var probe = false

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        var document = PluginsDocument(catalog: try file.catalog(ConnectorHost.Options(), answer: answer))
        if probe { await document.probe() }
        answer.output.write(document)
        if document.hasFailedProbe { throw ExitStatus.failed }
    }
}
