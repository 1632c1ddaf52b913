// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What is next for a connector.
extension OutboxTables {
    /// How far a connector has come on one of its routes.
    struct Cursor {
        var route: Int64
        var position: Int64
        /// The first position beyond the route.
        var end: Int64 { (route + 1) << Schema.sequenceBits }
    }

    /// The cursors of a connector.
    func cursors(of target: Int64) throws(Database.Failure) -> [Cursor] {
        var cursors: [Cursor] = []
        try statement("SELECT route, position FROM cursors WHERE target = ?").run(.integer(target)) { row in
            cursors.append(Cursor(route: row.integer(0), position: row.integer(1)))
        }
        return cursors
    }

    /// The next events of a connector.
    func batch(for path: String, upTo limits: BatchLimits, now: Timestamp) throws(Database.Failure) -> OutboxBatch {
        var batch = OutboxBatch(target: path, entries: [])
        guard let target = try target(path) else { return batch }
        var filling = Filling(limits: limits)
        try statement(
            """
            SELECT events.position, id, lane, created, payload, attempts, renewed FROM retries JOIN events USING(position)
            WHERE target = ? AND due <= ? ORDER BY due LIMIT ?
            """
        ).run(.integer(target), .time(now), .integer(Int64(limits.count))) { row in
            var entry = entry(row, attempts: Int(row.integer(5)))
            entry.renewedAt = row.optionalInteger(6) == nil ? nil : row.time(6)
            filling.add(entry)
        }
        batch.entries = filling.entries
        if batch.isEmpty { batch.entries = try fresh(target, limits) }
        if batch.isEmpty {
            batch.nextDue = try statement("SELECT min(due) FROM retries WHERE target = ?").integer(.integer(target)).map
            {
                Timestamp(nanoseconds: UInt64(max(0, $0)))
            }
        }
        return batch
    }

    /// The oldest events beyond the cursors, from all routes in the order of their arrival.
    func fresh(_ target: Int64, _ limits: BatchLimits) throws(Database.Failure) -> [OutboxBatch.Entry] {
        let select = try statement(
            """
            SELECT position, id, lane, created, payload FROM events
            WHERE position > ? AND position < ?
            AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = ? AND position = events.position)
            ORDER BY position LIMIT ?
            """
        )
        var lists: [[OutboxBatch.Entry]] = []
        for cursor in try cursors(of: target) {
            // The limit of bytes counts for each route, so that a batch of large events is not read for nothing.
            var filling = Filling(limits: limits)
            try select.run(
                .integer(cursor.position),
                .integer(cursor.end),
                .integer(target),
                .integer(Int64(limits.count))
            ) { row in
                filling.add(entry(row, attempts: 0))
            }
            if !filling.entries.isEmpty { lists.append(filling.entries) }
        }
        guard lists.count > 1 else { return lists.first ?? [] }
        var filling = Filling(limits: limits)
        for entry in lists.joined().sorted(by: { $0.sequence < $1.sequence }) { filling.add(entry) }
        return filling.entries
    }

    /// The event in the columns position, id, lane, created and payload.
    private func entry(_ row: borrowing Statement.Row, attempts: Int) -> OutboxBatch.Entry {
        OutboxBatch.Entry(position: row.integer(0), attempts: attempts, event: event(row))
    }

    /// Takes entries for a batch as long as they fit.
    private struct Filling {
        let limits: BatchLimits
        var entries: [OutboxBatch.Entry] = []
        private var bytes = 0
        private var isFull = false

        init(limits: BatchLimits) {
            self.limits = limits
        }

        mutating func add(_ entry: OutboxBatch.Entry) {
            bytes += entry.event.payload.count + 1
            isFull =
                isFull || entries.count >= limits.count || !entries.isEmpty && bytes > limits.bytes
                || entries.first.map { $0.event.lane.capability != entry.event.lane.capability } ?? false
            if !isFull { entries.append(entry) }
        }
    }
}

extension OutboxBatch.Entry {
    /// The event's number among those of all routes.
    fileprivate var sequence: Int64 { position & (1 << Schema.sequenceBits - 1) }
}
