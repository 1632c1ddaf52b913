// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
internal import ConnectorOutbox

/// An event that a vendor permanently rejected, or that expired before the vendor accepted it.
///
/// It stays in the outbox until it is replayed or dropped: see ``ConnectorHost/deadLetters(of:limit:after:)``.
public struct DeadLetter: Sendable, Hashable {
    /// The event's id, by which the vendor recognizes duplicates, and by which it is replayed or dropped.
    public let id: String
    /// The connector whose vendor did not receive the event; other vendors may have received it.
    public let connector: String
    /// The capability of the event, such as `analytics/1`.
    public let capability: String
    /// The operation of the event, such as `track`.
    public let operation: String
    /// When the application sent the event.
    public let createdAt: Timestamp
    /// UTF-8 JSON: the event, or the arguments by name if the operation has several.
    public let payload: [UInt8]
    /// The number of recorded attempts.
    public let attempts: Int
    /// When the last attempt began; nil if there was none.
    public let lastAttemptAt: Timestamp?
    /// Why the vendor did not accept the event, in the vendor's words or the host's; nil if not recorded.
    public let reason: String?
    /// The code of that failure.
    public let code: ConnectorError.Code?
    /// The letter's position in the list, from which to continue.
    public let cursor: Cursor

    /// A position in the list of dead letters; stays valid as letters are added and removed, and across processes.
    public struct Cursor: Sendable, Hashable, LosslessStringConvertible {
        let place: RecordCursor

        init(_ place: RecordCursor) {
            self.place = place
        }

        /// Parses a ``description``; nil for any other text.
        public init?(_ description: String) {
            guard let place = RecordCursor(description) else { return nil }
            self.place = place
        }

        /// The position as text, as commands and pages show it.
        public var description: String { place.description }
    }

    /// Reads a record; nil if it is not a dead letter.
    init?(_ record: OutboxRecord) {
        guard record.state == .dead, let place = record.cursor else { return nil }
        let last = record.attempts.last
        id = record.event.id
        connector = record.path
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

extension DeadLetter: CustomStringConvertible {
    /// One line without the payload, such as `order-7, orders/1 placed, at shop/crm: no such user [invalid]`.
    public var description: String {
        let text = "\(id), \(capability) \(operation), at \(connector)"
        guard let reason else { return text }
        return "\(text): \(reason)" + (code.map { " [\($0)]" } ?? "")
    }
}
