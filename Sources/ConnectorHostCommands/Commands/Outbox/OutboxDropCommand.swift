// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox drop`
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
        try await options.run { outbox throws(ConnectorError) in
            let count = try await outbox.drop(selection.selectedIDs, queued: queued)
            return CountDocument(verb: "dropped", count: count, noun: queued ? "event" : "dead letter")
        }
    }
}
