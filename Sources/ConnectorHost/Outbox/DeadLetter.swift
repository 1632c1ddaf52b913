// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorOutbox

/// An event that a vendor refuses for good, or that grew too old before the vendor took it.
///
/// It stays in the outbox until it is replayed or dropped: see ``ConnectorHost/deadLetters(of:limit:after:)``.
public struct DeadLetter: Sendable, Hashable {
    /// The event's id, by which the vendor recognises a repetition, and by which it is replayed or dropped.
    public let id: String
    /// The connector whose vendor does not have the event; the same event may have reached others.
    public let connector: String
    /// The capability that the event was sent by, such as `analytics/1`.
    public let capability: String
    /// The operation that the event was sent by, such as `track`.
    public let operation: String
    /// When the application sent the event.
    public let createdAt: Timestamp
    /// JSON in UTF-8: the event, or the arguments by name of an operation that takes several.
    public let payload: [UInt8]
    /// How many attempts were made, as far as the outbox remembers them.
    public let attempts: Int
    /// When the last attempt began; nil if there was none.
    public let lastAttemptAt: Timestamp?
    /// Why the vendor does not have the event, in its words or ours; nil if the outbox does not remember.
    public let reason: String?
    /// The kind of that failure.
    public let code: ConnectorError.Code?
    /// Where the letter stands in the list, to ask for those after it.
    public let cursor: Cursor

    /// A place in the list of dead letters, which stays valid while letters come and go, and between processes.
    public struct Cursor: Sendable, Hashable, LosslessStringConvertible {
        let place: RecordCursor

        init(_ place: RecordCursor) {
            self.place = place
        }

        /// Reads what ``description`` writes; nil for any other text.
        public init?(_ description: String) {
            guard let place = RecordCursor(description) else { return nil }
            self.place = place
        }

        /// The place as a text, which commands and pages show, too.
        public var description: String { place.description }
    }

    /// Reads a record; nil for one that is no dead letter.
    init?(_ record: OutboxRecord) {
        guard record.state == .dead, let place = record.cursor else { return nil }
        let last = record.attempts.last
        id = record.event.id
        connector = record.target
        capability = record.event.kind.capability
        operation = record.event.kind.operation
        createdAt = record.event.createdAt
        payload = record.event.payload
        attempts = record.attempts.reduce(0) { $0.saturatingAdding($1.count) }
        lastAttemptAt = last?.until
        reason = last?.failure?.reason
        code = last?.failure?.code
        cursor = Cursor(place)
    }
}
