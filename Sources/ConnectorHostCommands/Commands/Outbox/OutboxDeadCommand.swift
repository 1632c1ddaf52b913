// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorManifest
internal import ConnectorOutbox

/// `connector-host outbox dead`
struct OutboxDeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List the dead letters: what vendors refuse for good, and why."
    )

    @OptionGroup var options: OutboxOptions

    @Option(help: ArgumentHelp("The most to list.", valueName: "number"))
    var limit = 100

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        try await options.run { outbox throws(ConnectorError) in
            DeadLettersDocument(records: try await outbox.dead(limit: limit), limit: limit)
        }
    }
}
