// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// Giving up events that have grown too old.
extension Delivery {
    /// Waits as ``wait(until:orFor:)`` does, but not beyond the next look for events that have grown too old: where this host alone
    /// delivers, they become dead letters.
    ///
    /// Events that other hosts can get are left alone: a host that cannot deliver does not know whether another host can.
    func wait(until end: UInt64, expiring progress: inout Progress) async throws(ConnectorError) {
        guard policy.maximumAge != nil, !dependencies.engine.isShared else { return await wait(until: end) }
        let (monotonic, now) = (dependencies.clock.now(), dependencies.clock.wallTime())
        try await compareClocks(&progress, now)
        let batch = try await dependencies.engine.batch(for: path, upTo: limits, now: now)
        if try await expire(batch, now, &progress) { return }
        let isNew = batch.entries.first?.attempts == 0
        // New events leave in the order of their arrival.
        let next = batch.entries.prefix(isNew ? 1 : batch.entries.count).map { expiry(of: $0) }.min()
        let due = Timestamp(nanoseconds: next ?? batch.nextDue?.nanoseconds ?? .max)
        let step = max(Self.shortestStep, min(due.nanoseconds(after: now), policy.longestWait.nanoseconds))
        await wait(until: min(end, monotonic.saturatingAdding(step)))
    }

    /// The shortest time between two looks for events that have grown too old, in nanoseconds.
    static let shortestStep: UInt64 = 1_000_000_000

    /// Turns the events that are too old into dead letters.
    ///
    /// - Returns: Whether there were any.
    func expire(
        _ batch: OutboxBatch,
        _ now: Timestamp,
        _ progress: inout Progress
    ) async throws(ConnectorError) -> Bool {
        guard let age = policy.maximumAge else { return false }
        let isOld = batch.entries.map { now.nanoseconds >= expiry(of: $0) }
        guard isOld.contains(true) else { return false }
        // New events leave in the order of their arrival, so the others wait for the next look.
        let failure = DeliveryFailure(.timedOut, "older than \(age.brief) before the vendor took it")
        let old = zip(batch.entries, isOld).prefix { batch.entries[0].attempts > 0 || $1 }.filter(\.1).map(\.0)
        guard !old.isEmpty else { return false }
        let expired = batch.keeping(old)
        progress.endRepetition(of: expired)
        try await settle(
            expired,
            Array(repeating: .dead, count: old.count),
            Attempt(at: now, failures: Array(repeating: failure, count: old.count))
        )
        return true
    }

    /// The time of day, in nanoseconds, from which an event is too old; the end of time without a `maximumAge`.
    func expiry(of entry: OutboxBatch.Entry) -> UInt64 {
        guard let age = policy.maximumAge else { return .max }
        let start = entry.agesFrom ?? entry.renewedAt ?? entry.createdAt
        return start.nanoseconds.saturatingAdding(age.nanoseconds).saturatingAdding(1)
    }

    /// The outcomes of events, none of which is to be retried later than it grows too old: it comes then, and becomes a dead letter.
    func bounded(_ outcomes: [DeliveryOutcome], _ entries: [OutboxBatch.Entry]) -> [DeliveryOutcome] {
        guard policy.maximumAge != nil else { return outcomes }
        return zip(outcomes, entries).map { outcome, entry -> DeliveryOutcome in
            guard case .retry(let due) = outcome else { return outcome }
            return .retry(at: min(due, Timestamp(nanoseconds: expiry(of: entry))))
        }
    }
}
