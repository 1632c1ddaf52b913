// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// `connector-host plugins`: shows every file in the plugin directories, usable or not, running none of it.
struct PluginsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "plugins",
        abstract: "Show every plugin there is, and why a file is not usable.",
        discussion: """
            Looks in the directories that the configuration lists, in those of CONNECTOR_PLUGIN_PATH, and beside the
            program; no code of any plugin runs. Without a connectors.json only the latter two are looked through.

            Exit status: 0, also if some file is not usable; 2 if the configuration cannot be read; 64 for wrong usage.

            Examples:
              connector-host plugins
              CONNECTOR_PLUGIN_PATH=build connector-host plugins --json
            """
    )

    @OptionGroup var file: ConfigurationOption

    @OptionGroup var answer: OutputOptions

    func run() async throws {
        answer.output.write(PluginsDocument(catalog: try file.catalog(ConnectorHost.Options(), answer: answer)))
    }
}
