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
        var path: String
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

    /// The servers' time of day. Events age by it, since the clocks of hosts that share a queue may differ.
    struct ServerTime: Sendable {
        /// The time of day that a server told; nil if it told none.
        var time: Timestamp?
        /// The monotonic time of this host when it was told.
        var toldAt: UInt64

        /// When servers stored an event, by this host's time of day; nil if the servers' time is not known.
        ///
        /// - Parameters:
        ///   - stored: When they stored it, by theirs.
        ///   - now: This host's time of day.
        ///   - monotonic: Its monotonic time.
        func local(_ stored: Timestamp?, now: Timestamp, monotonic: UInt64) -> Timestamp? {
            guard let time, let stored else { return nil }
            let elapsed = monotonic - min(monotonic, toldAt)
            let age = Timestamp(nanoseconds: time.nanoseconds.saturatingAdding(elapsed)).nanoseconds(after: stored)
            return Timestamp(nanoseconds: now.nanoseconds - min(now.nanoseconds, age))
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
        /// How many events this host had settled there before the consumer was read.
        var settled: Int
        /// When the consumer was created.
        var consumer: Timestamp?
    }

    /// The number of dropped events that are remembered.
    private static let droppedLimit = 1000
}

extension NATSEngine.State {
    /// Adopts the settings and the acknowledgements of all consumers.
    ///
    /// - Parameter before: How many events this host had settled at each connector before the consumers were read.
    /// - Returns: How many events no longer wait for connectors whose consumers were made again, without those that this host has settled
    ///   since it last read them.
    @discardableResult
    mutating func adopt(
        _ consumers: [String: NATSSchema.Consumer],
        settledBefore before: [String: Int]
    ) -> [String: Int] {
        var lost: [String: Int] = [:]
        for (path, consumer) in consumers {
            // One that was gone for a while is another one, too.
            let isAnother = slots[path] != consumer.slot || Self.differ(created[path], consumer.created)
            if isAnother { (leases[path], oldest[path]) = (nil, nil) }
            let waiting = consumer.pending.saturatingAdding(consumer.leased)
            if let known = backlogs[path], Self.differ(known.consumer, consumer.created) {
                let gone = known.count - waiting - ((settledCounts[path] ?? 0) - known.settled)
                if gone > 0 { lost[path] = gone }
            }
            backlogs[path] = NATSEngine.Backlog(
                count: waiting,
                settled: before[path] ?? 0,
                consumer: consumer.created
            )
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
    mutating func noteSettled(_ entries: [OutboxBatch.Entry], at path: String) {
        // After a failure, an attempt is recorded once more.
        let new = entries.filter { settled[path]?.contains($0.position, storedAt: $0.storedAt) != true }
        for entry in new { settled[path, default: NATSEngine.SettledEvents()].add(entry) }
        settledCounts[path, default: 0] += new.count
    }

    /// Notes that this host has dropped events of a connector.
    mutating func noteDropped(_ entries: [OutboxBatch.Entry], at path: String) {
        for entry in entries {
            let event = OutboxEvent(id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: [])
            dropped.append(NATSEngine.DroppedEvent(path: path, position: entry.position, event: event))
        }
        dropped.removeFirst(max(0, dropped.count - NATSEngine.droppedLimit))
    }
}
