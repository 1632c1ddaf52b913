// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser

/// `connector-host outbox`: shows and changes the outbox, even while a host runs.
struct OutboxCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "outbox",
        abstract: "Show the events waiting for delivery, and replay or drop dead letters.",
        discussion: """
            Queries the host that runs on the same file; if none runs, reads the store directly.

            Exit status: 0; 1 if the outbox cannot be used, or an id is unknown; 2 if the configuration is invalid; 64 for wrong \
            usage.
            """,
        subcommands: [
            OutboxListCommand.self, OutboxShowCommand.self, OutboxExplainCommand.self, OutboxDeadCommand.self,
            OutboxReplayCommand.self, OutboxDropCommand.self, OutboxMigrateCommand.self,
        ],
        defaultSubcommand: OutboxListCommand.self
    )
}
