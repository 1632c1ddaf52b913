// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Converts events to and from message headers.
enum NATSEvent {
    /// The header of an event: its time, capability, operation and id.
    static func header(_ event: OutboxEvent) -> String {
        [
            String(event.createdAt.nanoseconds), NATSLayout.token(event.kind.capability),
            NATSLayout.token(event.kind.operation), NATSLayout.token(event.id),
        ].joined(separator: " ")
    }

    /// Parses the event of a message.
    ///
    /// A message without a valid header, from another program, becomes an event that no adapter accepts, and so a dead letter.
    static func event(_ message: NATSMessage, at sequence: Int64) -> OutboxEvent {
        let parts = message.event?.split(separator: " ").map { NATSLayout.path(String($0)) } ?? []
        guard parts.count == 4, let time = parts[0].flatMap({ UInt64($0) }), let capability = parts[1],
            let operation = parts[2], let id = parts[3]
        else {
            let (id, time) = ("message-\(sequence)", Timestamp(nanoseconds: 0))
            return OutboxEvent(id: id, kind: EventKind("", ""), createdAt: time, payload: message.data)
        }
        return OutboxEvent(
            id: id,
            kind: EventKind(capability, operation),
            createdAt: Timestamp(nanoseconds: time),
            payload: message.data
        )
    }

    /// Whether a message has been stored for an event that was put back in the queue, which restarts its age.
    static func isRenewed(_ message: NATSMessage, of event: OutboxEvent) -> Bool {
        guard let id = message.id else { return false }
        let token = NATSLayout.token(event.id)
        return id.starts(ascii: "\(token).replayed-") || id.starts(ascii: "\(token).moved-")
    }

    /// The header of a dead letter: the position of the event, the time and number of attempts, and the last failure.
    static func failureHeader(
        position: Int64,
        at time: Timestamp,
        count: Int,
        _ failure: DeliveryFailure?
    ) -> String {
        [
            String(position), String(time.nanoseconds), String(count),
            NATSLayout.token(failure?.code.rawValue ?? ""), NATSLayout.token(brief(failure?.reason ?? "")),
        ].joined(separator: " ")
    }

    /// The beginning of a reason, short enough for a header: encoding may triple its length.
    private static func brief(_ reason: String) -> String {
        guard reason.utf8.count > reasonLimit else { return reason }
        var scalars = String.UnicodeScalarView()
        var length = 0
        for scalar in reason.unicodeScalars {
            length += UTF8.width(scalar)
            guard length <= reasonLimit else { break }
            scalars.append(scalar)
        }
        return String(scalars)
    }

    /// The longest reason of a dead letter, in bytes.
    private static let reasonLimit = 1024

    /// Parses the header of a dead letter.
    ///
    /// - Returns: The position of the event in the stream of waiting events, and the attempts; nil without a valid header.
    static func failure(_ message: NATSMessage) -> (position: Int64, attempt: PastAttempt)? {
        guard let header = message.failure else { return nil }
        let parts = header.split(separator: " ", omittingEmptySubsequences: false)
            .map { NATSLayout.path(String($0)) ?? "" }
        guard parts.count == 5, let position = Int64(parts[0]), let nanoseconds = UInt64(parts[1]),
            let count = Int(parts[2]), position > 0, count > 0
        else { return nil }
        let time = Timestamp(nanoseconds: nanoseconds)
        let failure = parts[3].isEmpty ? nil : DeliveryFailure(.init(rawValue: parts[3]), parts[4])
        return (position, PastAttempt(at: time, until: time, count: count, failure: failure))
    }
}

/// The contents of the reply subject of a leased message (`$JS.ACK.…`).
struct NATSLease: Sendable {
    /// The name of the consumer.
    var consumer: String
    /// The number of deliveries of the message to hosts, including this one; at least 1.
    var deliveries: Int
    /// The sequence number of the message in its stream.
    var sequence: Int64
    /// When the message was stored, in the server's time.
    var time: Timestamp?

    /// Parses a reply subject; nil if it is not one of a lease.
    ///
    /// It has nine tokens, or eleven or more with the domain and the account's hash.
    init?(_ reply: String) {
        let tokens = reply.split(separator: ".")
        guard tokens.count == 9 || tokens.count >= 11, tokens[0] == "$JS", tokens[1] == "ACK" else { return nil }
        let first = tokens.count == 9 ? 4 : 6
        guard let deliveries = Int(tokens[first]), deliveries > 0, let sequence = Int64(tokens[first + 1]), sequence > 0
        else { return nil }
        consumer = String(tokens[first - 1])
        self.deliveries = deliveries
        self.sequence = sequence
        time = UInt64(tokens[first + 3]).map { Timestamp(nanoseconds: $0) }
    }
}
