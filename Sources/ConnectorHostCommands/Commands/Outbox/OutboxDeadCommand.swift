// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ArgumentParser
internal import ConnectorBase
internal import ConnectorOutbox

/// `connector-host outbox dead`: lists the dead letters.
struct OutboxDeadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead",
        abstract: "List the dead letters: the events that vendors refused for good, and why."
    )

    @OptionGroup var options: OutboxOptions

    @Option(help: ArgumentHelp("The maximum number to list.", valueName: "number"))
    var limit = 100

    @Option(
        help: ArgumentHelp("Continue after a cursor, which ends the previous list.", valueName: "cursor"),
        transform: RecordCursor.argument
    )
    var after: RecordCursor?

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() async throws {
        try await options.run { outbox throws(ConnectorError) in
            let dead = try await outbox.dead(limit: limit, after: after)
            return DeadLettersDocument(records: dead.letters, next: dead.next)
        }
    }
}

extension RecordCursor {
    /// Parses a cursor.
    ///
    /// - Throws: A `ValidationError`, which ends the process with status 64.
    fileprivate static func argument(_ text: String) throws -> RecordCursor {
        guard let cursor = RecordCursor(text) else {
            throw ValidationError("'\(text)' is not a cursor: copy it from the end of the previous list.")
        }
        return cursor
    }
}
