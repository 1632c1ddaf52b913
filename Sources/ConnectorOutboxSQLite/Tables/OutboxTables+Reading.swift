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
        var builder = BatchBuilder(path, limits)
        guard let target = try target(path) else { return builder.batch }
        // Retries without a wait are stored as due at time 0, at which none is to be returned.
        try statement(
            """
            SELECT events.position, id, lane, created, payload, checksum, attempts, renewed
            FROM retries JOIN events USING(position) WHERE target = ?1 AND due <= ?2 AND ?2 > 0 ORDER BY due LIMIT ?3
            """
        ).run(
            [.integer(target), .time(now), .integer(Int64(limits.count))],
            until: { row throws(Database.Failure) in
                // With zero attempts it would count as new.
                let attempts = max(1, Int(try row.integer(6)))
                try add(row, attempts: attempts, renewedAt: try row.optionalTime(7), to: &builder)
                return builder.isFull
            }
        )
        if builder.batch.isEmpty { try fresh(target, &builder) }
        builder.batch.isFull = builder.isFull
        if builder.batch.isEmpty {
            let due = try statement("SELECT min(due) FROM retries WHERE target = ?")
                .integer(.integer(target), in: Schema.times)
            let next = due.map { Timestamp(nanoseconds: UInt64(clamping: $0)) }
            builder.batch.nextDue = next
            if let next, next <= now, now > Timestamp(nanoseconds: 0) {
                throw .damaged("an event that waits for a retry is not at its position")
            }
            try checkNoneWaits(target)
        }
        return builder.batch
    }

    /// Compares the counts of a connector that has no new events with its progress.
    ///
    /// - Throws: A damage failure if events wait by the counts. Nothing would ever deliver them.
    private func checkNoneWaits(_ target: Int64) throws(Database.Failure) {
        let waiting = try statement(
            """
            SELECT count(*) FROM cursors JOIN routes USING(route) WHERE target = ? AND routes.count <> cursors.count
            """
        ).integer(.integer(target))
        guard waiting == 0 else { throw .damaged("a connector has passed events that wait by the counts of its route") }
    }

    /// The events of a route after a connector's cursor, in order of arrival: position, end of the route, connector, and how many.
    static let eventsBeyondCursor = """
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

    /// Adds the oldest events after the cursors, from all routes in order of arrival, to an empty batch.
    private func fresh(_ target: Int64, _ builder: inout BatchBuilder) throws(Database.Failure) {
        let select = try statement(Self.selectEvents)
        let limits = builder.limits
        var routes: [BatchBuilder] = []
        // The first event that did not fit: none may overtake it, whatever route it is on.
        var end = Int64.max
        for cursor in try cursors(of: target) {
            // The byte limit applies to each route, to avoid reading large events that will not be used.
            var route = BatchBuilder(builder.batch.path, limits)
            var last = cursor.position
            try select.run(
                [
                    .integer(cursor.position), .integer(cursor.end), .integer(target), .integer(Int64(limits.count)),
                ],
                until: { row throws(Database.Failure) in
                    // SQLite trusts the order of its rows. Settled, an event with a damaged position would move the cursor past others.
                    let position = try row.integer(0, in: last + 1...max(last + 1, cursor.end - 1))
                    last = position
                    try add(row, attempts: 0, to: &route)
                    return route.isFull
                }
            )
            if route.batch.damage != nil, Schema.sequence(of: last) >= (try nextSequence()) {
                throw .damaged("an event is beyond the next sequence number")
            }
            if !route.batch.isEmpty { routes.append(route) }
            end = min(end, route.refused ?? .max)
        }
        guard routes.count > 1 else {
            if let only = routes.first { builder = only }
            return
        }
        var entries: [(route: Int, entry: OutboxBatch.Entry)] = []
        for (index, route) in routes.enumerated() { entries += route.batch.entries.map { (route: index, entry: $0) } }
        entries.sort { $0.entry.sequence < $1.entry.sequence }
        for (route, entry) in entries where entry.sequence < end {
            guard builder.takes(entry) else { break }
            builder.batch.append(entry, of: routes[route].batch)
        }
        if end < .max { builder.refused = min(end, builder.refused ?? .max) }
    }

    /// Adds the event in the columns position, id, lane, created, payload and checksum to a batch, if it fits. Its payload goes
    /// straight from SQLite's memory into the batch; a damaged event is read as far as possible.
    private func add(
        _ row: borrowing Statement.Row,
        attempts: Int,
        renewedAt: Timestamp? = nil,
        to builder: inout BatchBuilder
    ) throws(Database.Failure) {
        let isDamaged = !row.isIntact()
        let entry = OutboxBatch.Entry(
            position: try row.integer(0, in: Schema.positions),
            attempts: attempts,
            id: row.text(1),
            kind: readKind(row),
            createdAt: try isDamaged ? (try? row.time(3)) ?? Timestamp(nanoseconds: 0) : row.time(3),
            bytes: row.count(4),
            renewedAt: renewedAt,
            isDamaged: isDamaged
        )
        guard builder.takes(entry) else { return }
        guard !isDamaged else { return builder.batch.entries.append(entry) }
        // A second event makes more of them likely: the array grows once for all of them.
        if builder.batch.entries.count == 1 { builder.batch.reserve(min(builder.limits.bytes, 1 << 20)) }
        row.append(4, of: entry, to: &builder.batch)
    }

    /// Collects a batch while events fit: within the limits, of one capability, and all intact or all damaged.
    private struct BatchBuilder {
        let limits: BatchLimits
        var batch: OutboxBatch
        private var bytes = 0
        /// The sequence number of the first event that did not fit; nil while all have.
        var refused: Int64?
        var isFull: Bool { refused != nil }

        init(_ path: String, _ limits: BatchLimits) {
            self.limits = limits
            batch = OutboxBatch(path: path)
        }

        /// Whether the next event fits; the caller adds it then.
        mutating func takes(_ entry: OutboxBatch.Entry) -> Bool {
            guard !isFull else { return false }
            bytes += entry.bytes + 1
            let isTooMuch =
                batch.entries.count >= limits.count || !batch.isEmpty && bytes > limits.bytes
                || batch.entries.first.map { first in
                    first.isDamaged != entry.isDamaged
                        || !first.isDamaged && first.kind.capability != entry.kind.capability
                } ?? false
            if isTooMuch { refused = entry.sequence }
            return !isTooMuch
        }
    }
}

extension OutboxBatch.Entry {
    /// The event's sequence number, by which the events of all routes are in order of arrival.
    fileprivate var sequence: Int64 { Schema.sequence(of: position) }
}
