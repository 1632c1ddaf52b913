// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorHost

/// The command line of the host: each command is a file in `Commands/`.
struct ConnectorHostCommand: AsyncParsableCommand {
    /// The name, help and subcommands.
    static let configuration = CommandConfiguration(
        commandName: "connector-host",
        abstract: "Open an application's connections to the outside world, and report each one truthfully.",
        discussion: """
            The configuration is connectors.json in the working directory, unless --config names another file.

            Examples:
              connector-host validate               report every fault of the file
              connector-host status --simulate      open every gate against simulators
              connector-host status                 open every gate for real
              connector-host run                    keep the gates open, deliver the outbox
              connector-host plan                   show what a reload would change
              connector-host console                show gates and outbox, and act on them
              connector-host plugins                list every plugin, usable or not
              connector-host new rates --language c make a project for a plugin of your own
              connector-host test librates.so       check a plugin against every rule

            Shell completions: connector-host --generate-completion-script bash|zsh|fish
            """,
        version: ConnectorHost.version,
        subcommands: [
            StatusCommand.self, ValidateCommand.self, SchemaCommand.self, PluginsCommand.self, InspectCommand.self,
            DiffCommand.self, LockCommand.self,
            SimulateCommand.self, OperationsCommand.self, CallCommand.self, RecordCommand.self, WatchCommand.self,
            RunCommand.self, PlanCommand.self, ApplyCommand.self, ReloadCommand.self, SwapCommand.self,
            SendCommand.self, OutboxCommand.self, ConsoleCommand.self, NewCommand.self, TestCommand.self,
            ExplainCommand.self, ReferenceCommand.self,
        ]
    )

}
