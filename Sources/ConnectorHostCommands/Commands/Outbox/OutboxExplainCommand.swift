// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox explain`: shows every attempt to deliver an event.
struct OutboxExplainCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show every attempt to deliver an event: when it was made, its result, and why it failed."
    )

    @Argument(help: "The event's id.")
    var id: String

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { outbox throws(ConnectorError) in
            EventRecordDocument(records: try await outbox.event(id), showsPayload: false)
        }
    }
}
