// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// The events of one connector that this host has leased: no other host gets them until the leases lapse.
///
/// A value without I/O; times are the connection's monotonic ones, but for the due times of retries.
struct NATSLeases: Sendable {
    /// A leased event.
    struct Held: Sendable {
        var entry: OutboxBatch.Entry
        /// Where its acknowledgement goes.
        var reply: String
        /// When the server gives it to another host.
        var until: UInt64
    }

    /// An event that was given back, to be tried again.
    private struct Retry: Sendable {
        /// When it is due, by the time of day.
        var due: Timestamp
        /// When the server hands it out, by the connection's time.
        var ready: UInt64
    }

    /// How long a lease lasts without a word.
    let lease: UInt64
    private(set) var held: [Held] = []
    private var retries: [Retry] = []
    /// When the last batch was handed out that is not settled yet.
    private(set) var lentAt: UInt64?
    /// A delivery that takes longer is not waited for.
    private static let longestDelivery: UInt64 = 600_000_000_000

    /// Holds nothing yet.
    init(lease: UInt64) {
        self.lease = lease
    }

    /// How many retries are waited for.
    var retryCount: Int { retries.count }

    /// When the next retry is due.
    var nextRetry: Timestamp? { retries.map(\.due).min() }

    // MARK: Handing out

    /// What to do before a batch is handed out.
    struct Preparation: Sendable {
        /// The leases to renew.
        var renewed: [String]
        /// How many more events fit.
        var room: Int
        /// How long to wait for the server to hand out a retry that is due; nil if none is.
        var wait: UInt64?
    }

    /// Forgets the leases that have lapsed, and renews those that are about to.
    mutating func prepare(_ count: Int, now: UInt64, time: Timestamp) -> Preparation {
        lentAt = now
        held.removeAll { $0.until < now.saturatingAdding(lease / 10) }
        let renewed = renew(now, before: lease / 2)
        let ready = retries.filter { $0.due <= time }.map { $0.ready - min($0.ready, now) }.max()
        retries.removeAll { $0.due <= time }
        return Preparation(
            renewed: renewed,
            room: max(0, count - held.count),
            wait: ready.map { $0.saturatingAdding(Self.slack) }
        )
    }

    /// How much later than asked for a server hands an event out.
    private static let slack: UInt64 = 500_000_000

    /// Takes more leased events.
    mutating func add(_ more: [Held]) {
        let known = Set(held.map(\.entry.position))
        held += more.filter { !known.contains($0.entry.position) }
        // Those tried before come first, as from every engine.
        held.sort {
            ($0.entry.attempts == 0 ? 1 : 0, $0.entry.position) < ($1.entry.attempts == 0 ? 1 : 0, $1.entry.position)
        }
    }

    /// The next batch: alike in capability and in whether they were tried before.
    ///
    /// - Returns: The events, and whether there are more than fit.
    func entries(_ limits: BatchLimits) -> (entries: [OutboxBatch.Entry], isFull: Bool) {
        guard let first = held.first?.entry else { return ([], false) }
        var (entries, bytes): ([OutboxBatch.Entry], Int) = ([], 0)
        for held in held {
            bytes += held.entry.event.payload.count + 1
            guard entries.count < limits.count, entries.isEmpty || bytes <= limits.bytes,
                held.entry.event.kind.capability == first.event.kind.capability,
                (held.entry.attempts == 0) == (first.attempts == 0)
            else { break }
            entries.append(held.entry)
        }
        return (entries, entries.count < held.count)
    }

    /// Gives back everything that is leased still, to be handed out again at once.
    ///
    /// - Returns: Where to say so.
    mutating func release(_ now: UInt64) -> [String] {
        defer { (held, lentAt) = ([], nil) }
        return held.filter { $0.until > now }.map(\.reply)
    }

    /// The oldest events that no delivery is working on.
    mutating func takeIdle() -> [Held] {
        guard lentAt == nil else { return [] }
        defer { held = [] }
        return held
    }

    // MARK: Keeping

    /// The leases to renew while a delivery takes its time.
    mutating func renewal(_ now: UInt64) -> [String] {
        guard let lentAt, now < lentAt.saturatingAdding(Self.longestDelivery) else { return [] }
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

    /// Where the acknowledgements go, by the numbers of the events; those whose leases have lapsed are not there.
    func replies(_ positions: [Int64]) -> [Int64: String] {
        let wanted = Set(positions)
        return Dictionary(
            held.filter { wanted.contains($0.entry.position) }.map { ($0.entry.position, $0.reply) },
            uniquingKeysWith: { first, _ in first }
        )
    }

    /// Forgets what is settled.
    mutating func settle(_ positions: Set<Int64>, retries due: [Timestamp], time: Timestamp, now: UInt64) {
        held.removeAll { positions.contains($0.entry.position) }
        retries += due.map { Retry(due: $0, ready: now.saturatingAdding($0.nanoseconds(after: time))) }
        lentAt = nil
    }
}
