// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import Synchronization

/// What a host knows about its events that the servers do not report.
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
        /// The time of day that a server reported; nil if it reported none.
        var time: Timestamp?
        /// The monotonic time of this host when it was received.
        var receivedAt: UInt64

        /// When servers stored an event, by this host's time of day; nil if the servers' time is not known.
        ///
        /// - Parameters:
        ///   - stored: When they stored it, by theirs.
        ///   - now: This host's time of day.
        ///   - monotonic: Its monotonic time.
        func local(_ stored: Timestamp?, now: Timestamp, monotonic: UInt64) -> Timestamp? {
            guard let time, let stored else { return nil }
            let elapsed = monotonic - min(monotonic, receivedAt)
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

    /// How many messages a stream has had, and has.
    struct StreamState: Sendable {
        /// The sequence number of its last message.
        var last: Int
        /// How many messages it has.
        var messages: Int

        /// How many messages have been deleted since; nil if the stream was made again, or restored from an older copy.
        func deletions(since known: Self) -> Int? {
            guard last >= known.last else { return nil }
            return max(0, max(0, last - messages) - max(0, known.last - known.messages))
        }
    }

    /// What this host had done when it began to read the consumers.
    struct Reading: Sendable {
        /// Which reading it was.
        var number: Int
        /// What it had done at each consumer.
        var tallies: [String: NATSBacklog.Tally]
        /// The reply subjects of the events that it had leased.
        var leases: [String: Set<String>]
    }

    /// The number of dropped events that are remembered.
    private static let droppedLimit = 1000

    /// Notes that this host begins to acknowledge or to delete waiting events of a connector.
    func beginRemoving(_ count: Int, of path: String) {
        state.withLock { $0.tallies[path, default: NATSBacklog.Tally()].begun += count }
    }

    /// Notes that the acknowledgements which ``beginRemoving(_:of:)`` noted have ended, whether or not they succeeded.
    func endAcknowledging(_ count: Int, of path: String) {
        state.withLock { $0.tallies[path, default: NATSBacklog.Tally()].ended += count }
    }

    /// Notes that the deletions which ``beginRemoving(_:of:)`` noted have returned, whether or not they succeeded.
    func endDeleting(_ count: Int, of path: String) {
        state.withLock { $0.tallies[path, default: NATSBacklog.Tally()].deleted += count }
    }
}

extension NATSEngine.State {
    /// What this host has done so far, for ``adopt(_:since:now:)``.
    ///
    /// - Parameter now: The monotonic time.
    func reading(at now: UInt64) -> NATSEngine.Reading {
        NATSEngine.Reading(number: readings, tallies: tallies, leases: leases.mapValues { $0.replies(at: now) })
    }

    /// Adopts the settings and the acknowledgements of all consumers.
    ///
    /// - Parameters:
    ///   - stream: The state of the stream; nil if it is not known.
    ///   - start: What this host had done before the consumers were read.
    ///   - now: The monotonic time.
    /// - Returns: How many events no longer wait for each connector, although no host can have settled them.
    @discardableResult
    mutating func adopt(
        _ consumers: [String: NATSSchema.Consumer],
        of stream: NATSEngine.StreamState? = nil,
        since start: NATSEngine.Reading,
        now: UInt64
    ) -> [String: Int] {
        var gone: [String: Int] = [:]
        // The counts of a reading that was overtaken by another one are older than those that are known.
        let isLatest = start.number == readings
        // Since the reading before the last one: consumers may learn of a deletion later than the stream.
        let deletions = streams.first.flatMap { stream?.deletions(since: $0) } ?? .max
        if isLatest {
            readings += 1
            streams = Array((streams + [stream].compactMap(\.self)).suffix(2))
        }
        for (path, consumer) in consumers {
            // A consumer that was gone for a while is a new one.
            let isAnother = slots[path] != consumer.slot || consumer.isAnother(than: created[path])
            if isAnother { (leases[path], oldest[path]) = (nil, nil) }
            leases[path, default: NATSLeases(lease: consumer.lease)].lease = consumer.lease
            settled[path]?.trim(upTo: consumer.floor)
            guard isLatest else { continue }
            let (before, tally) = (start.tallies[path] ?? NATSBacklog.Tally(), tallies[path] ?? NATSBacklog.Tally())
            let known = backlogs[path]
            let count = known?.gone(from: consumer, deletions: deletions, before: before, now: tally) ?? 0
            if count > 0 { gone[path] = count }
            let held = leases[path]?.replies(at: now).intersection(start.leases[path] ?? []).count ?? 0
            backlogs[path] = NATSBacklog(consumer, held: held, before: before, now: tally, after: known)
            tallies[path]?.endDeletions(before: before)
        }
        slots = consumers.mapValues(\.slot)
        created = consumers.compactMapValues(\.created)
        faults = consumers.compactMapValues { $0.isUnsafe ? $0.fault : nil }
        settled = settled.filter { consumers[$0.key] != nil }
        return gone
    }

    /// Notes that this host was handed out events of a connector.
    ///
    /// - Parameter reading: How often the consumers had been read when it asked for them: if they were read meanwhile, the server may have
    ///   counted the events before.
    mutating func noteReceived(_ count: Int, at path: String, since reading: Int) {
        guard reading == readings else { return }
        tallies[path, default: NATSBacklog.Tally()].received += count
    }

    /// Notes that this host has settled events of a connector.
    mutating func noteSettled(_ entries: [OutboxBatch.Entry], at path: String) {
        for entry in entries { settled[path, default: NATSEngine.SettledEvents()].add(entry) }
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
