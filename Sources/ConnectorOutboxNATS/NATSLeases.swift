// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// The events of one connector that this host has leased. No other host receives them until the leases expire.
///
/// A value without I/O. Times are monotonic, in nanoseconds, except the due times of retries.
struct NATSLeases: Sendable {
    /// A leased event.
    struct LeasedEvent: Sendable {
        var entry: OutboxBatch.Entry
        /// The event's JSON.
        var payload: [UInt8]
        /// The subject of its acknowledgement.
        var reply: String
        /// When the lease expires.
        var until: UInt64
        /// The subject under which it is stored, which names its connectors; nil if it is not known.
        var subject: String?
        /// Whether its dead letter is stored.
        var hasLetter = false

        /// The event as it was sent.
        var event: OutboxEvent {
            OutboxEvent(id: entry.id, kind: entry.kind, createdAt: entry.createdAt, payload: payload)
        }
    }

    /// An event that was released for a retry.
    private struct Retry: Sendable {
        /// The subject of its acknowledgement.
        var reply: String
        /// When it is due, in wall-clock time.
        var due: Timestamp
        /// When the server redelivers it, in monotonic time.
        var ready: UInt64

        /// When the server redelivers it, in wall-clock time.
        func redelivery(now: UInt64, time: Timestamp) -> Timestamp {
            Timestamp(nanoseconds: time.nanoseconds.saturatingAdding(ready - min(ready, now)))
        }
    }

    /// How long a lease lasts without renewal, in nanoseconds.
    var lease: UInt64
    /// The leased events, in delivery order.
    private(set) var held: [LeasedEvent] = []
    private var retries: [Retry] = []
    /// When the current batch was taken; nil if none is being delivered.
    private(set) var batchTakenAt: UInt64?
    /// The duration after which the leases of a delivery are no longer renewed, in nanoseconds.
    private static let longestDelivery: UInt64 = 600_000_000_000

    /// Starts without leases.
    init(lease: UInt64) {
        self.lease = lease
    }

    /// The number of scheduled retries.
    var retryCount: Int { retries.count }

    /// When the next retry is due; nil if there is none.
    var nextRetry: Timestamp? { retries.map(\.due).min() }

    /// The reply subjects of the events that no other host can have at a time: those whose leases last, and those that the server holds
    /// back.
    func replies(at now: UInt64) -> Set<String> {
        Set(held.filter { $0.until > now }.map(\.reply) + retries.filter { $0.ready > now }.map(\.reply))
    }

    // MARK: Taking batches

    /// The steps before a batch is taken.
    struct Preparation: Sendable {
        /// The reply subjects of the leases to renew.
        var renewed: [String]
        /// The number of further events to lease.
        var room: Int
        /// The number of due retries that the server redelivers now or soon.
        var due: Int
        /// How long to wait for them, in nanoseconds.
        var wait: UInt64
        /// The reply subjects of the due retries that the server would hold back for longer.
        var recalled: [String]
    }

    /// Removes expired leases, and renews those that expire soon.
    mutating func prepare(_ count: Int, now: UInt64, time: Timestamp) -> Preparation {
        batchTakenAt = now
        held.removeAll { $0.until < now.saturatingAdding(lease / 10) }
        let renewed = renew(now, before: lease / 2)
        // The server holds some back for longer if the time of day was set forward, or if everything is due because the
        // connector is gone.
        let end = now.saturatingAdding(Self.longestWait)
        let room = max(0, count - held.count)
        var (left, due, recalled): ([Retry], [Retry], [String]) = ([], [], [])
        for retry in retries {
            if retry.due > time {
                left.append(retry)
            } else if retry.ready <= end {
                due.append(retry)
            } else if recalled.count < min(room, Self.recallLimit) {
                recalled.append(retry.reply)
            } else {
                left.append(retry)
            }
        }
        retries = left
        return Preparation(
            renewed: renewed,
            room: room - recalled.count,
            due: due.count,
            wait: (due.map { $0.ready - min($0.ready, now) }.max() ?? 0).saturatingAdding(Self.slack),
            recalled: recalled
        )
    }

    /// The longest wait for retries that are due, in nanoseconds.
    private static let longestWait: UInt64 = 5_000_000_000

    /// The most retries that are taken back at a time, since each is read on its own and their sizes are unknown.
    private static let recallLimit = 16

    /// How much later than requested a server may redeliver an event, in nanoseconds.
    private static let slack: UInt64 = 500_000_000

    /// Adds leased events.
    mutating func add(_ more: [LeasedEvent]) {
        let known = Set(held.map(\.entry.position))
        held += more.filter { !known.contains($0.entry.position) }
        // Events that have been attempted come first, as in every engine.
        held.sort {
            ($0.entry.attempts == 0 ? 1 : 0, $0.entry.position) < ($1.entry.attempts == 0 ? 1 : 0, $1.entry.position)
        }
    }

    /// The next batch: events of one capability, either all attempted before or all new; or damaged ones only.
    ///
    /// - Returns: The events, and whether there are more than the limits allow.
    func next(_ limits: BatchLimits) -> (events: [LeasedEvent], isFull: Bool) {
        guard let first = held.first?.entry else { return ([], false) }
        var (events, bytes): ([LeasedEvent], Int) = ([], 0)
        for held in held {
            bytes += held.entry.bytes + 1
            guard events.count < limits.count, events.isEmpty || bytes <= limits.bytes,
                held.entry.isDamaged == first.isDamaged,
                first.isDamaged || held.entry.kind.capability == first.kind.capability,
                (held.entry.attempts == 0) == (first.attempts == 0)
            else { break }
            events.append(held)
        }
        return (events, events.count < held.count)
    }

    /// Releases all leases, for immediate redelivery.
    ///
    /// - Returns: The reply subjects of the events to release.
    mutating func release(_ now: UInt64) -> [String] {
        defer { (held, batchTakenAt) = ([], nil) }
        return held.filter { $0.until > now }.map(\.reply)
    }

    /// Removes and returns the events that are not being delivered, oldest first.
    mutating func takeIdle() -> [LeasedEvent] {
        guard batchTakenAt == nil else { return [] }
        defer { held = [] }
        return held
    }

    // MARK: Renewing

    /// The reply subjects of the leases to renew during a long delivery.
    mutating func renewal(_ now: UInt64) -> [String] {
        guard let batchTakenAt, now < batchTakenAt.saturatingAdding(Self.longestDelivery) else { return [] }
        return renew(now, before: .max)
    }

    private mutating func renew(_ now: UInt64, before left: UInt64) -> [String] {
        var replies: [String] = []
        for index in held.indices where held[index].until - min(held[index].until, now) < left {
            held[index].until = now.saturatingAdding(lease)
            replies.append(held[index].reply)
        }
        return replies
    }

    // MARK: Settling

    /// The leases of events, by position. Some may have expired; those that were removed since are missing.
    func leased(_ positions: [Int64]) -> [Int64: LeasedEvent] {
        let wanted = Set(positions)
        return Dictionary(
            held.filter { wanted.contains($0.entry.position) }.map { ($0.entry.position, $0) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Removes settled events, and schedules their retries.
    ///
    /// - Parameter due: When each retry is due, and the subject of its acknowledgement.
    mutating func settle(
        _ positions: Set<Int64>,
        retries due: [(time: Timestamp, reply: String)],
        time: Timestamp,
        now: UInt64
    ) {
        held.removeAll { positions.contains($0.entry.position) }
        retries += due.map {
            Retry(reply: $0.reply, due: $0.time, ready: now.saturatingAdding($0.time.nanoseconds(after: time)))
        }
    }

    /// Notes that the dead letters of events are stored.
    mutating func noteLetters(of positions: Set<Int64>) {
        for index in held.indices where positions.contains(held[index].entry.position) { held[index].hasLetter = true }
    }

    /// Ends the current batch.
    mutating func endBatch() { batchTakenAt = nil }

    /// Makes all retries due; those that the server redelivers later are recalled.
    mutating func expediteRetries(at time: Timestamp) {
        for index in retries.indices { retries[index].due = min(retries[index].due, time) }
    }

    /// Moves up due times after the time of day was set back, so that no retry is due later than the server redelivers
    /// it.
    mutating func rewind(now: UInt64, time: Timestamp) {
        for index in retries.indices {
            retries[index].due = min(retries[index].due, retries[index].redelivery(now: now, time: time))
        }
    }
}
