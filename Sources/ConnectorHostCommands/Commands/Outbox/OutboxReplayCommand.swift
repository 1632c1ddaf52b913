// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox replay`: puts dead letters back in the queue.
struct OutboxReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Put dead letters back in the queue.",
        discussion: """
            The letters of a connector that is not in the file stay, and the exit status is 1; --to brings them to another one.

            Examples:
              connector-host outbox replay 01963a7e-4b5c-7d8e-9f01-23456789abcd
              connector-host outbox replay --all --gate analytics/segment
              connector-host outbox replay --all --gate analytics/segment \\
                --to analytics/posthog
            """
    )

    @Option(
        name: .customLong("to"),
        help: ArgumentHelp("The connector that gets them. (default: the one that had each)", valueName: "path"),
        completion: ConnectorCompletion.paths
    )
    var other: String?

    @OptionGroup var selection: OutboxSelection

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await selection.run(options, verb: "replayed", on: [.dead]) { outbox, ids throws(ConnectorError) in
            try await outbox.replay(ids, to: other)
        }
    }
}
