// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox list`: shows how many events wait for each connector.
struct OutboxListCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Show how many events wait for each connector, and since when."
    )

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { outbox throws(ConnectorError) in
            QueueStatisticsDocument(statistics: try await outbox.statistics())
        }
    }
}
