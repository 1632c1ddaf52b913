// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// The command line of the host: each command is a file in `Commands/`.
struct ConnectorHostCommand: AsyncParsableCommand {
    /// Name, help and subcommands.
    static let configuration = CommandConfiguration(
        commandName: "connector-host",
        abstract: "Opens the connections to the outside world that a file names, and reports each one truthfully.",
        discussion: """
            The file is connectors.json in the working directory, unless --config names another one.

            Examples:
              connector-host validate               say what is wrong with the file, opening nothing
              connector-host status --simulate      open every gate against the simulators in this process
              connector-host status                 open every gate for real
              connector-host plugins                show every plugin there is, usable or not

            Shell completions: connector-host --generate-completion-script bash|zsh|fish
            """,
        version: ConnectorHost.version,
        subcommands: [
            StatusCommand.self, ValidateCommand.self, SchemaCommand.self, PluginsCommand.self, InspectCommand.self,
            SimulateCommand.self, OperationsCommand.self, CallCommand.self, WatchCommand.self,
        ]
    )

}
