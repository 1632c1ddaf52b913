// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Reading records and statistics.
extension OutboxTables {
    /// The statistics of every connector.
    func statistics() throws(Database.Failure) -> [String: QueueStatistics] {
        try flushCounters()
        var statistics: [String: QueueStatistics] = [:]
        var numbers: [(path: String, target: Int64)] = []
        try statement("SELECT target, path, delivered, dropped, last, retried, retried_bytes FROM targets").run {
            row throws(Database.Failure) in
            var queue = QueueStatistics()
            queue.delivered = Int(try row.integer(2))
            queue.dropped = Int(try row.integer(3))
            queue.lastDelivered = try row.optionalTime(4)
            queue.queued = Int(try row.integer(5))
            queue.bytes = Int(try row.integer(6))
            statistics[row.text(1)] = queue
            numbers.append((row.text(1), try row.integer(0)))
        }
        for (path, target) in numbers {
            var queue = statistics[path] ?? QueueStatistics()
            let beyond = try beyondCursors(target)
            queue.oldest = try oldest(target)
            queue.queued = Self.sum(queue.queued, beyond.count)
            queue.bytes = Self.sum(queue.bytes, beyond.bytes)
            queue.dead = Int(
                try statement("SELECT count(*) FROM dead WHERE target = ?").integer(.integer(target)) ?? 0
            )
            statistics[path] = queue
        }
        return statistics
    }

    /// When the oldest waiting event of a connector was sent; nil if none waits. Reads at most two events of each route.
    func oldest(_ target: Int64) throws(Database.Failure) -> Timestamp? {
        let select = """
            SELECT min(created) FROM routes JOIN events ON events.position = (
                SELECT position FROM retries WHERE target = ?1 AND position > route << \(Schema.sequenceBits)
                AND position < (route + 1) << \(Schema.sequenceBits) ORDER BY position LIMIT 1)
            """
        // A time that the disk has made negative counts as the earliest.
        let retried = try statement(select).integer(.integer(target), in: Int64.min...Int64.max)
            .map { Timestamp(nanoseconds: UInt64(clamping: $0)) }
        return [try oldestFresh(target), retried].compactMap(\.self).min()
    }

    /// The number and size of a connector's waiting events that were never attempted.
    private func beyondCursors(_ target: Int64) throws(Database.Failure) -> (count: Int, bytes: Int) {
        var sums = (count: 0, bytes: 0)
        try statement(
            """
            SELECT routes.count, cursors.count, routes.bytes, cursors.bytes
            FROM cursors JOIN routes USING(route) WHERE target = ?
            """
        ).run(.integer(target)) { row throws(Database.Failure) in
            sums.count = Self.sum(sums.count, max(0, Int(try row.integer(0) - row.integer(1))))
            sums.bytes = Self.sum(sums.bytes, max(0, Int(try row.integer(2) - row.integer(3))))
        }
        return sums
    }

    /// Adds two counts, stopping at the largest, so that further sums cannot overflow either.
    private static func sum(_ count: Int, _ other: Int) -> Int { min(count + other, Int(Schema.counts.upperBound)) }

    /// The size of a connector's waiting events, including those waiting for a retry. Reads only counters.
    func waitingBytes(_ path: String) throws(Database.Failure) -> Int {
        try flushCounters()
        guard let target = try target(path) else { return 0 }
        let retried = try statement("SELECT retried_bytes FROM targets WHERE target = ?").integer(.integer(target))
        return Self.sum(try beyondCursors(target).bytes, Int(retried ?? 0))
    }

    // MARK: Records

    /// An event in a selection, at one connector.
    private struct Found {
        var target: Int64
        var path: String
        var position: Int64
        var state: OutboxRecord.State
        var event: OutboxEvent
        var due: Timestamp?
    }

    /// Reads the records that match a selection, oldest first.
    ///
    /// - Parameter payload: The SQL expression to read for the payload.
    private func read(
        _ selection: RecordSelection,
        payload: String,
        _ body: (borrowing Statement.Row) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        let states = selection.states ?? Set(OutboxRecord.State.allCases)
        var parts: [String] = []
        // An event up to the cursor that is neither in `retries` nor in `dead` nor in `skipped` is delivered.
        let event = "events.position, id, lane, created, \(payload), targets.target, path"
        for (state, table) in [(OutboxRecord.State.dead, "dead"), (.dropped, "skipped")] where states.contains(state) {
            parts.append(
                """
                SELECT \(event), '\(state.rawValue)', NULL
                FROM \(table) JOIN events USING(position) JOIN targets USING(target) WHERE true
                """
            )
        }
        if states.contains(.queued) {
            parts.append(
                """
                SELECT \(event), 'queued', nullif(due, 0)
                FROM retries JOIN events USING(position) JOIN targets USING(target) WHERE true
                """
            )
        }
        let fresh = states.contains(.queued) ? "events.position > cursors.position" : nil
        let passed = states.contains(.delivered) ? "events.position <= cursors.position" : nil
        if fresh != nil || passed != nil {
            let condition = [fresh, passed].compactMap(\.self).joined(separator: " OR ")
            parts.append(
                """
                SELECT \(event), iif(events.position > cursors.position, 'queued', 'delivered'), NULL
                FROM cursors JOIN targets USING(target) JOIN events
                ON events.position > cursors.route << \(Schema.sequenceBits)
                AND events.position < (cursors.route + 1) << \(Schema.sequenceBits)
                WHERE (\(condition))
                AND NOT EXISTS(SELECT 1 FROM dead WHERE target = cursors.target AND position = events.position)
                AND NOT EXISTS(SELECT 1 FROM retries WHERE target = cursors.target AND position = events.position)
                AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = cursors.target AND position = events.position)
                """
            )
        }
        guard !parts.isEmpty else { return }
        var values: [Statement.Value] = []
        var conditions: [String] = []
        for (column, names) in [("path", selection.paths), ("id", selection.ids)] {
            guard let names else { continue }
            // SQLite ends a text of JSON at a NUL, and so would find another name.
            let odd = names.filter { $0.utf8.contains(0) }.sorted()
            let either = Array(repeating: " OR \(column) = ?", count: odd.count).joined()
            conditions.append("(\(column) IN (SELECT value FROM json_each(?))\(either))")
            values.append(.text(Self.list(names.subtracting(odd).sorted())))
            values += odd.map(Statement.Value.text)
        }
        if let after = selection.after {
            conditions.append("(created, events.position, path) > (?, ?, ?)")
            let (time, position) = (Int64(clamping: after.time), Int64(clamping: after.position))
            values += [.integer(time), .integer(position), .text(after.path)]
        }
        let filter = conditions.map { " AND \($0)" }.joined()
        let sql = parts.map { $0 + filter }
        try statement("\(sql.joined(separator: " UNION ALL ")) ORDER BY created, 1, path LIMIT ?").run(
            Array(repeating: values, count: parts.count).flatMap(\.self) + [.integer(Int64(selection.limit))],
            row: body
        )
    }

    /// The records in a selection, with their attempts.
    func records(_ selection: RecordSelection) throws(Database.Failure) -> [OutboxRecord] {
        var all: [Found] = []
        try read(selection, payload: "payload") { row throws(Database.Failure) in
            all.append(
                Found(
                    target: try row.integer(5),
                    path: row.text(6),
                    position: try row.integer(0, in: Schema.positions),
                    state: OutboxRecord.State(rawValue: row.text(7)) ?? .queued,
                    event: try event(row),
                    due: try row.optionalTime(8)
                )
            )
        }
        return zip(all, try attempts(at: all)).map { found, attempts in
            OutboxRecord(
                path: found.path,
                event: found.event,
                state: found.state,
                due: found.due,
                attempts: attempts,
                cursor: RecordCursor(
                    time: found.event.createdAt.nanoseconds,
                    position: UInt64(clamping: found.position),
                    path: found.path
                )
            )
        }
    }

    /// The attempts at each event, oldest first. Reads the attempts of a connector once, however many of its events there are.
    private func attempts(at events: [Found]) throws(Database.Failure) -> [[PastAttempt]] {
        var attempts = [[PastAttempt]](repeating: [], count: events.count)
        for (target, indices) in Dictionary(grouping: events.indices, by: { events[$0].target }) {
            let sorted = indices.sorted { events[$0].position < events[$1].position }
            let positions = sorted.map { events[$0].position }
            guard let first = positions.first, let last = positions.last else { continue }
            // An attempt at several events is one at all positions in a range, which lies on one route.
            try statement(
                """
                SELECT first, last, at, until, count, code, reason FROM attempts
                WHERE target = ? AND last BETWEEN ? AND ? AND first <= ? ORDER BY at, rowid
                """
            ).run(
                .integer(target),
                .integer(first),
                .integer(Schema.positions(of: Schema.route(of: last)).upperBound),
                .integer(last)
            ) { row throws(Database.Failure) in
                let start = Self.count(in: positions, below: try row.integer(0, in: Schema.positions))
                let end = try row.integer(1, in: Schema.positions)
                let code = row.text(5)
                let attempt = PastAttempt(
                    at: try row.time(2),
                    until: try row.time(3),
                    count: Int(try row.integer(4)),
                    failure: code.isEmpty ? nil : DeliveryFailure(.init(rawValue: code), row.text(6))
                )
                for (position, index) in zip(positions[start...], sorted[start...]) {
                    guard position <= end else { break }
                    attempts[index].append(attempt)
                }
            }
        }
        return attempts
    }

    /// The number of positions, which are in ascending order, below another one.
    private static func count(in positions: [Int64], below position: Int64) -> Int {
        var (low, high) = (0, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// An event at a connector.
    struct EventReference: Sendable {
        var target: Int64
        var position: Int64
        /// The size of the payload in bytes.
        var bytes: Int64
    }

    /// References to the events in a selection, without their payloads.
    func references(_ selection: RecordSelection) throws(Database.Failure) -> [EventReference] {
        var references: [EventReference] = []
        try read(selection, payload: "length(payload)") { row throws(Database.Failure) in
            let position = try row.integer(0, in: Schema.positions)
            references.append(EventReference(target: try row.integer(5), position: position, bytes: try row.integer(4)))
        }
        return references
    }
}
