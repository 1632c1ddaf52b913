// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// What a host knows about its events that the servers do not tell.
extension NATSEngine {
    /// The mean size of the events of a connector.
    struct MeanSize: Sendable {
        private var count = 0
        private var bytes = 0

        /// The number of events after which earlier ones count half.
        private static let memory = 10_000

        /// The size of an event in bytes; nil before the first one.
        var mean: Double? { count > 0 ? Double(bytes) / Double(count) : nil }

        /// Counts events of these sizes.
        mutating func add(_ sizes: [Int]) {
            if count >= Self.memory { (count, bytes) = (count / 2, bytes / 2) }
            count = count.saturatingAdding(sizes.count)
            bytes = sizes.reduce(bytes) { $0.saturatingAdding($1) }
        }
    }

    /// An event that this host has dropped, without its payload.
    struct DroppedEvent: Sendable {
        var target: String
        /// Its sequence number in the stream.
        var position: Int64
        var event: OutboxEvent
    }

    /// The events that this host has settled at a connector.
    ///
    /// Each is known by its sequence number and by when it was stored: numbers come again after the stream was deleted, or restored
    /// from an older copy.
    struct SettledEvents: Sendable {
        private var times: [Int64: Timestamp] = [:]

        /// The number of events that are remembered up to the acknowledgement floor. A server that is lost may take acknowledgements
        /// with it, those that it confirmed a moment ago included, and its successor hands out the events again.
        private static let memory = 10_000
        /// The number of events that are remembered at all.
        private static let limit = 1 << 18

        /// Whether an event is among them.
        func contains(_ position: Int64, storedAt time: Timestamp?) -> Bool {
            guard let time else { return false }
            return times[position] == time
        }

        /// Adds an event.
        mutating func add(_ entry: OutboxBatch.Entry) {
            guard times.count < Self.limit || times[entry.position] != nil else { return }
            times[entry.position] = entry.storedAt
        }

        /// Forgets all but the last of the events that the server knows to be settled.
        mutating func trim(upTo floor: Int64) {
            guard times.count >= 2 * Self.memory else { return }
            for position in times.keys.filter({ $0 <= floor }).sorted().dropLast(Self.memory) { times[position] = nil }
        }
    }

    /// The oldest waiting event of a connector, and the state of the stream in which it was the oldest.
    struct OldestEvent: Sendable {
        /// The acknowledgement floor of the consumer.
        var floor: Int64
        /// The first sequence number of the stream.
        var first: Int64?
        /// The number of messages deleted between others.
        var deleted: Int64?
        /// When the consumer was created.
        var consumer: Timestamp?
        /// When the event was sent.
        var createdAt = Timestamp(nanoseconds: 0)

        /// Whether no other event can have become the oldest since.
        func isSame(as known: Self) -> Bool {
            (floor, first, deleted, consumer) == (known.floor, known.first, known.deleted, known.consumer)
        }
    }

    /// What waited at a consumer.
    struct Backlog: Sendable {
        /// The number of events, leased ones included.
        var count: Int
        /// When the consumer was created.
        var consumer: Timestamp?
    }

    /// The number of dropped events that are remembered.
    private static let droppedLimit = 1000
}

extension NATSEngine.State {
    /// Adopts the settings and the acknowledgements of all consumers.
    ///
    /// - Returns: How many events no longer wait for connectors whose consumers were made again.
    @discardableResult
    mutating func adopt(_ consumers: [String: NATSSchema.Consumer]) -> [String: Int] {
        var lost: [String: Int] = [:]
        for (path, consumer) in consumers {
            // One that was gone for a while is another one, too.
            let isAnother = slots[path] != consumer.slot || Self.differ(created[path], consumer.created)
            if isAnother { (leases[path], oldest[path]) = (nil, nil) }
            let waiting = consumer.pending.saturatingAdding(consumer.leased)
            if let known = backlogs[path], Self.differ(known.consumer, consumer.created), known.count > waiting {
                lost[path] = known.count - waiting
            }
            backlogs[path] = NATSEngine.Backlog(count: waiting, consumer: consumer.created)
            leases[path, default: NATSLeases(lease: consumer.lease)].lease = consumer.lease
            settled[path]?.trim(upTo: consumer.floor)
        }
        slots = consumers.mapValues(\.slot)
        created = consumers.compactMapValues(\.created)
        settled = settled.filter { consumers[$0.key] != nil }
        return lost
    }

    /// Whether two times at which a consumer was created are those of two consumers.
    ///
    /// After a restart, or from another leader, the time of one consumer differs slightly. If it differs by more, no event is lost or
    /// delivered again: what the vendor takes is acknowledged when the server hands it out again.
    private static func differ(_ known: Timestamp?, _ time: Timestamp?) -> Bool {
        let (known, time) = (known?.nanoseconds ?? 0, time?.nanoseconds ?? 0)
        return max(known, time) - min(known, time) > 1_000_000_000
    }

    /// Notes that this host has settled events of a connector.
    mutating func noteSettled(_ entries: [OutboxBatch.Entry], at target: String) {
        for entry in entries { settled[target, default: NATSEngine.SettledEvents()].add(entry) }
    }

    /// Notes that this host has dropped events of a connector.
    mutating func noteDropped(_ entries: [OutboxBatch.Entry], at target: String) {
        for entry in entries {
            let event = OutboxEvent(id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: [])
            dropped.append(NATSEngine.DroppedEvent(target: target, position: entry.position, event: event))
        }
        dropped.removeFirst(max(0, dropped.count - NATSEngine.droppedLimit))
    }
}
