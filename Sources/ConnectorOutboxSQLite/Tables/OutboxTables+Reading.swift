// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Reading the next events of a connector.
extension OutboxTables {
    /// The progress of a connector on one of its routes.
    struct Cursor {
        var route: Int64
        var position: Int64
        /// The first position after the route.
        var end: Int64 { (route + 1) << Schema.sequenceBits }
    }

    /// The cursors of a connector.
    func cursors(of target: Int64) throws(Database.Failure) -> [Cursor] {
        var cursors: [Cursor] = []
        try statement("SELECT route, position FROM cursors WHERE target = ?").run(.integer(target)) {
            row throws(Database.Failure) in
            let route = try row.integer(0, in: Schema.routes)
            cursors.append(Cursor(route: route, position: try row.integer(1, in: Schema.positions(of: route))))
        }
        return cursors
    }

    /// The next events of a connector.
    func batch(for path: String, upTo limits: BatchLimits, now: Timestamp) throws(Database.Failure) -> OutboxBatch {
        var batch = OutboxBatch(target: path, entries: [])
        guard let target = try target(path) else { return batch }
        var builder = BatchBuilder(limits: limits)
        try statement(
            """
            SELECT events.position, id, lane, created, payload, checksum, attempts, renewed
            FROM retries JOIN events USING(position) WHERE target = ? AND due <= ? ORDER BY due LIMIT ?
            """
        ).run(
            [.integer(target), .time(now), .integer(Int64(limits.count))],
            until: { row throws(Database.Failure) in
                // With zero attempts it would count as new.
                var entry = try entry(row, attempts: max(1, Int(try row.integer(6))))
                entry.renewedAt = try row.optionalTime(7)
                builder.add(entry)
                return builder.isFull
            }
        )
        (batch.entries, batch.isFull) = (builder.entries, builder.isFull)
        if batch.isEmpty { batch.entries = try fresh(target, limits, isFull: &batch.isFull) }
        if batch.isEmpty {
            let due = try statement("SELECT min(due) FROM retries WHERE target = ?")
                .integer(.integer(target), in: Schema.times)
            batch.nextDue = due.map { Timestamp(nanoseconds: UInt64(clamping: $0)) }
        }
        return batch
    }

    /// The events of a route after a connector's cursor, in order of arrival: position, end of the route, connector, and how many.
    private static let eventsBeyondCursor = """
        FROM events WHERE position > ? AND position < ?
        AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = ? AND position = events.position)
        ORDER BY position LIMIT ?
        """
    private static let selectTimes = "SELECT position, created \(eventsBeyondCursor)"
    private static let selectEvents = "SELECT position, id, lane, created, payload, checksum \(eventsBeyondCursor)"

    /// When the oldest event after the cursors arrived; nil if there is none. Reads no payload.
    func oldestFresh(_ target: Int64) throws(Database.Failure) -> Timestamp? {
        let select = try statement(Self.selectTimes)
        var oldest: (sequence: Int64, created: Timestamp)?
        for cursor in try cursors(of: target) {
            try select.run(.integer(cursor.position), .integer(cursor.end), .integer(target), .integer(1)) {
                row throws(Database.Failure) in
                let sequence = Schema.sequence(of: try row.integer(0, in: Schema.positions))
                guard sequence < oldest?.sequence ?? .max else { return }
                // An event with a damaged time counts as the oldest.
                oldest = (sequence, (try? row.time(1)) ?? Timestamp(nanoseconds: 0))
            }
        }
        return oldest?.created
    }

    /// The oldest events after the cursors, from all routes in order of arrival.
    ///
    /// - Parameter isFull: Set to true if there are more events than the limits allow.
    private func fresh(
        _ target: Int64,
        _ limits: BatchLimits,
        isFull: inout Bool
    ) throws(Database.Failure) -> [OutboxBatch.Entry] {
        let select = try statement(Self.selectEvents)
        var lists: [[OutboxBatch.Entry]] = []
        // The first event that did not fit: none may overtake it, whatever route it is on.
        var end = Int64.max
        for cursor in try cursors(of: target) {
            // The byte limit applies to each route, to avoid reading large events that will not be used.
            var builder = BatchBuilder(limits: limits)
            try select.run(
                [
                    .integer(cursor.position), .integer(cursor.end), .integer(target), .integer(Int64(limits.count)),
                ],
                until: { row throws(Database.Failure) in
                    builder.add(try entry(row, attempts: 0))
                    return builder.isFull
                }
            )
            if !builder.entries.isEmpty { lists.append(builder.entries) }
            end = min(end, builder.refused ?? .max)
        }
        isFull = end < .max
        guard lists.count > 1 else { return lists.first ?? [] }
        var builder = BatchBuilder(limits: limits)
        for entry in lists.joined().sorted(by: { $0.sequence < $1.sequence }).prefix(while: { $0.sequence < end }) {
            builder.add(entry)
        }
        isFull = isFull || builder.isFull
        return builder.entries
    }

    /// The event in the columns position, id, lane, created, payload and checksum. A damaged one is read as far as possible.
    private func entry(_ row: borrowing Statement.Row, attempts: Int) throws(Database.Failure) -> OutboxBatch.Entry {
        let position = try row.integer(0, in: Schema.positions)
        guard row.isIntact() else {
            let event = OutboxEvent(
                id: row.text(1),
                kind: EventKind(row.text(2)) ?? EventKind("", row.text(2)),
                createdAt: (try? row.time(3)) ?? Timestamp(nanoseconds: 0),
                payload: row.bytes(4)
            )
            return OutboxBatch.Entry(position: position, attempts: attempts, event: event, isDamaged: true)
        }
        return OutboxBatch.Entry(position: position, attempts: attempts, event: try event(row))
    }

    /// Adds entries to a batch while they fit: within the limits, of one capability, and all intact or all damaged.
    private struct BatchBuilder {
        let limits: BatchLimits
        var entries: [OutboxBatch.Entry] = []
        private var bytes = 0
        /// The sequence number of the first entry that did not fit; nil while all have.
        private(set) var refused: Int64?
        var isFull: Bool { refused != nil }

        init(limits: BatchLimits) {
            self.limits = limits
        }

        mutating func add(_ entry: OutboxBatch.Entry) {
            guard !isFull else { return }
            bytes += entry.event.payload.count + 1
            let isTooMuch =
                entries.count >= limits.count || !entries.isEmpty && bytes > limits.bytes
                || entries.first.map { first in
                    first.isDamaged != entry.isDamaged
                        || !first.isDamaged && first.event.kind.capability != entry.event.kind.capability
                } ?? false
            if isTooMuch { refused = entry.sequence } else { entries.append(entry) }
        }
    }
}

extension OutboxBatch.Entry {
    /// The event's sequence number, by which the events of all routes are in order of arrival.
    fileprivate var sequence: Int64 { Schema.sequence(of: position) }
}
