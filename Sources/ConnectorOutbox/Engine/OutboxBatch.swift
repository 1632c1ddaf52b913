// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// Some events of one connector, to be delivered together: one JSON array, and where each event is in it.
package struct OutboxBatch: Sendable {
    /// The connector.
    package var path: String
    /// The payloads as one array of JSON, without those of damaged events; empty if there are none.
    package private(set) var json: [UInt8] = []
    /// The events, with the engine's own name for each.
    package var entries: [Entry] = []
    /// When the connector's next event is due, if none is now.
    package var nextDue: Timestamp?
    /// Whether the connector's next event does not fit: no later one can join the batch.
    package var isFull = false

    /// Starts without events.
    package init(path: String) {
        self.path = path
    }

    /// Adds an event; only its entry if it is damaged.
    ///
    /// - Parameter write: Appends its payload, which is JSON of ``Entry/bytes`` bytes.
    package mutating func append(_ entry: Entry, _ write: (inout [UInt8]) -> Void) {
        guard !entry.isDamaged else { return entries.append(entry) }
        if json.isEmpty {
            json.reserveCapacity(entry.bytes + 2)
            json.append(UInt8(ascii: "["))
        } else {
            // In the place of the bracket that closes the array.
            json[json.count - 1] = UInt8(ascii: ",")
        }
        var entry = entry
        let start = json.count
        write(&json)
        entry.range = start..<json.count
        json.append(UInt8(ascii: "]"))
        entries.append(entry)
    }

    /// Adds an event of another batch; only its entry if it is damaged.
    package mutating func append(_ entry: Entry, of other: OutboxBatch) {
        append(entry) { $0 += other.json[entry.range] }
    }

    /// Makes room for payloads, separators included, so that the array need not grow with each of them.
    package mutating func reserve(_ bytes: Int) { json.reserveCapacity(bytes + 2) }

    /// The same batch with only some of its events, to be settled: its array still has all of them.
    package func keeping(_ entries: [Entry]) -> OutboxBatch {
        var batch = self
        batch.entries = entries
        return batch
    }

    /// A batch of some of the events, to be delivered, in the order of their indices.
    package func part(_ indices: some Sequence<Int>) -> OutboxBatch {
        var part = OutboxBatch(path: path)
        for index in indices { part.append(entries[index], of: self) }
        return part
    }

    /// A copy of the payload of one of the events.
    package func payload(of entry: Entry) -> [UInt8] { Array(json[entry.range]) }

    /// Why none of the events may be delivered: the store has altered them. Nil if they are intact; a batch never mixes
    /// both kinds.
    package var damage: DeliveryFailure? {
        guard entries.first?.isDamaged == true else { return nil }
        return DeliveryFailure(
            .storage,
            "damaged in the outbox: its checksum does not match, or it has none and is not valid JSON"
        )
    }

    /// Whether there is nothing to deliver.
    package var isEmpty: Bool { entries.isEmpty }

    /// One event, without its payload.
    package struct Entry: Sendable {
        /// The engine's name for it.
        package var position: Int64
        /// How many attempts it has had on its own.
        package var attempts: Int
        /// The event's own id.
        package var id: String
        /// The operation that delivers it, and the operation's capability.
        package var kind: EventKind
        /// When the application sent it.
        package var createdAt: Timestamp
        /// The size of its payload.
        package var bytes: Int
        /// Where its payload is in ``OutboxBatch/json``; empty for a damaged event, whose payload is not there.
        package fileprivate(set) var range = 0..<0
        /// When the event was put back in the queue, which restarts its age; nil if it never was.
        package var renewedAt: Timestamp?
        /// Whether the store has altered the event, so that it must not be delivered.
        package var isDamaged: Bool
        /// When servers stored the event, which distinguishes it from another one at its position; nil in engines without servers.
        package var storedAt: Timestamp?
        /// Since when its age counts, by this host's time of day, in engines on servers, which have told their time; nil to count it from
        /// ``renewedAt`` or ``createdAt``.
        package var agesFrom: Timestamp?

        /// Describes an event of a batch.
        package init(
            position: Int64,
            attempts: Int,
            id: String,
            kind: EventKind,
            createdAt: Timestamp,
            bytes: Int,
            renewedAt: Timestamp? = nil,
            isDamaged: Bool = false,
            storedAt: Timestamp? = nil
        ) {
            self.position = position
            self.attempts = attempts
            self.id = id
            self.kind = kind
            self.createdAt = createdAt
            self.bytes = bytes
            self.renewedAt = renewedAt
            self.isDamaged = isDamaged
            self.storedAt = storedAt
        }

        /// Describes an event that is at hand.
        package init(
            position: Int64,
            attempts: Int,
            event: OutboxEvent,
            renewedAt: Timestamp? = nil,
            isDamaged: Bool = false,
            storedAt: Timestamp? = nil
        ) {
            self.init(
                position: position,
                attempts: attempts,
                id: event.id,
                kind: event.kind,
                createdAt: event.createdAt,
                bytes: event.payload.count,
                renewedAt: renewedAt,
                isDamaged: isDamaged,
                storedAt: storedAt
            )
        }
    }
}
