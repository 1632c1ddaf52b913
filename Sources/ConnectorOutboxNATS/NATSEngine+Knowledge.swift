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

        /// Counts events.
        mutating func add(_ events: [OutboxEvent]) {
            if count >= Self.memory { (count, bytes) = (count / 2, bytes / 2) }
            count = count.saturatingAdding(events.count)
            bytes = events.reduce(bytes) { $0.saturatingAdding($1.payload.count) }
        }
    }

    /// An event that this host has dropped, without its payload.
    struct DroppedEvent: Sendable {
        var target: String
        /// Its sequence number in the stream.
        var position: Int64
        var event: OutboxEvent
    }

    /// The oldest waiting event of a connector, and the state of the stream in which it was the oldest.
    struct OldestEvent: Sendable {
        /// The acknowledgement floor of the consumer.
        var floor: Int64
        /// The first sequence number of the stream.
        var first: Int64?
        /// The number of messages deleted between others.
        var deleted: Int64?
        /// When the event was sent.
        var createdAt = Timestamp(nanoseconds: 0)

        /// Whether no other event can have become the oldest since.
        func isSame(as known: Self) -> Bool { (floor, first, deleted) == (known.floor, known.first, known.deleted) }
    }

    /// The number of dropped events that are remembered.
    private static let droppedLimit = 1000
    /// The number of settled events of a connector that are remembered beyond the acknowledgement floor.
    private static let settledLimit = 1 << 18
}

extension NATSEngine.State {
    /// Adopts the settings and the acknowledgements of all consumers.
    mutating func adopt(_ consumers: [String: NATSSchema.Consumer]) {
        for (path, consumer) in consumers {
            let isAnother = slots[path].map { $0 != consumer.slot } ?? false
            if isAnother { leases[path] = nil }
            leases[path, default: NATSLeases(lease: consumer.lease)].lease = consumer.lease
            settled[path] = isAnother ? nil : settled[path].map { $0.filter { $0 > consumer.floor } }
            if isAnother { oldest[path] = nil }
        }
        slots = consumers.mapValues(\.slot)
        settled = settled.filter { consumers[$0.key] != nil }
    }

    /// Notes that this host has settled events of a connector.
    mutating func noteSettled(_ positions: Set<Int64>, at target: String) {
        guard settled[target]?.count ?? 0 < NATSEngine.settledLimit else { return }
        settled[target, default: []].formUnion(positions)
    }

    /// Notes that this host has dropped events of a connector.
    mutating func noteDropped(_ entries: [OutboxBatch.Entry], at target: String) {
        for entry in entries {
            var event = entry.event
            event.payload = []
            dropped.append(NATSEngine.DroppedEvent(target: target, position: entry.position, event: event))
        }
        dropped.removeFirst(max(0, dropped.count - NATSEngine.droppedLimit))
    }
}
