// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox drop`: drops dead letters, or waiting events, for good.
struct OutboxDropCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drop",
        abstract: "Drop dead letters, or waiting events, for good.",
        discussion: """
            Examples:
              connector-host outbox drop 01963a7e-4b5c-7d8e-9f01-23456789abcd
              connector-host outbox drop --all --gate analytics/segment
              connector-host outbox drop --all --queued --gate analytics/posthog
            """
    )

    @OptionGroup var selection: OutboxSelection

    @Flag(help: "Drop waiting events as well.")
    var queued = false

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        let states: Set<OutboxRecord.State> = queued ? [.dead, .queued] : [.dead]
        try await selection.run(options, verb: "dropped", on: states) { outbox, ids throws(ConnectorError) in
            (try await outbox.drop(ids, queued: queued), nil)
        }
    }
}
