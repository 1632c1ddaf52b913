// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox show`: shows the payload of an event, and its state at each connector.
struct OutboxShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the payload of an event, and its state at each connector."
    )

    @Argument(help: "The event's id.")
    var id: String

    @OptionGroup var options: OutboxOptions

    func run() async throws {
        try await options.run { outbox throws(ConnectorError) in
            EventRecordDocument(records: try await outbox.event(id), showsPayload: true)
        }
    }
}
