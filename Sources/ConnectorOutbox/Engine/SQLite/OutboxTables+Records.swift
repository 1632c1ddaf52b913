// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// What operators ask and do.
extension OutboxTables {
    /// How every connector stands.
    func standings() throws(Database.Failure) -> [String: Standing] {
        try count()
        var standings: [String: Standing] = [:]
        var numbers: [(path: String, target: Int64)] = []
        try statement("SELECT target, path, delivered, dropped, last FROM targets").run { row in
            var standing = Standing()
            standing.delivered = Int(row.integer(2))
            standing.dropped = Int(row.integer(3))
            standing.lastDelivered = row.optionalInteger(4) == nil ? nil : row.time(4)
            standings[row.text(1)] = standing
            numbers.append((row.text(1), row.integer(0)))
        }
        for (path, target) in numbers {
            var standing = standings[path] ?? Standing()
            try statement(
                """
                SELECT sum(routes.count - cursors.count), sum(routes.bytes - cursors.bytes)
                FROM cursors JOIN routes USING(route) WHERE target = ?
                """
            ).run(.integer(target)) { row in
                standing.queued = Int(row.integer(0))
                standing.bytes = Int(row.integer(1))
            }
            try statement(
                """
                SELECT count(*), sum(length(payload)), min(created) FROM retries JOIN events USING(position)
                WHERE target = ?
                """
            ).run(.integer(target)) { row in
                standing.queued += Int(row.integer(0))
                standing.bytes += Int(row.integer(1))
                standing.oldest = row.optionalInteger(2) == nil ? nil : row.time(2)
            }
            if let oldest = try fresh(target, BatchLimits(count: 1)).first?.event.createdAt {
                standing.oldest = min(standing.oldest ?? oldest, oldest)
            }
            standing.dead = Int(
                try statement("SELECT count(*) FROM dead WHERE target = ?").integer(.integer(target)) ?? 0
            )
            standings[path] = standing
        }
        return standings
    }

    // MARK: Records

    /// Events that a selection means, with their connectors.
    private struct Found {
        var target: Int64
        var path: String
        var position: Int64
        var state: OutboxRecord.State
        var event: OutboxEvent
        var due: Timestamp?
    }

    /// Reads what a selection means, oldest first.
    ///
    /// - Parameter payload: What to read in place of the payload.
    private func read(
        _ selection: RecordSelection,
        payload: String,
        _ body: (borrowing Statement.Row) -> Void
    ) throws(Database.Failure) {
        let states = selection.states ?? Set(OutboxRecord.State.allCases)
        var parts: [String] = []
        // A position up to the cursor that neither retries nor dead letters name is delivered.
        let event = "events.position, id, lane, created, \(payload), targets.target, path"
        if states.contains(.dead) {
            parts.append(
                "SELECT \(event), 'dead', NULL FROM dead JOIN events USING(position) JOIN targets USING(target)"
            )
        }
        if states.contains(.queued) {
            parts.append(
                "SELECT \(event), 'queued', due FROM retries JOIN events USING(position) JOIN targets USING(target)"
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
        for (column, names) in [("path", selection.targets), ("id", selection.ids)] {
            guard let names else { continue }
            conditions.append("\(column) IN (SELECT value FROM json_each(?))")
            values.append(.text(Self.list(names.sorted())))
        }
        if let after = selection.after {
            conditions.append("(created, events.position, path) > (?, ?, ?)")
            let (time, position) = (Int64(clamping: after.time), Int64(clamping: after.position))
            values += [.integer(time), .integer(position), .text(after.target)]
        }
        let filter = conditions.isEmpty ? "" : " AND \(conditions.joined(separator: " AND "))"
        let sql = parts.map { part in
            part + (part.contains("WHERE") ? filter : filter.isEmpty ? "" : " WHERE" + filter.dropFirst(4))
        }
        try statement("\(sql.joined(separator: " UNION ALL ")) ORDER BY created, 1, path LIMIT ?").run(
            Array(repeating: values, count: parts.count).flatMap(\.self) + [.integer(Int64(selection.limit))],
            row: body
        )
    }

    /// What is known of events.
    func records(_ selection: RecordSelection) throws(Database.Failure) -> [OutboxRecord] {
        var records: [OutboxRecord] = []
        var all: [Found] = []
        try read(selection, payload: "payload") { row in
            all.append(
                Found(
                    target: row.integer(5),
                    path: row.text(6),
                    position: row.integer(0),
                    state: OutboxRecord.State(rawValue: row.text(7)) ?? .queued,
                    event: event(row),
                    due: row.optionalInteger(8) == nil ? nil : row.time(8)
                )
            )
        }
        for found in all {
            var attempts: [PastAttempt] = []
            try statement(
                """
                SELECT at, until, count, code, reason FROM attempts
                WHERE target = ? AND last >= ? AND first <= ? ORDER BY at, rowid
                """
            ).run(.integer(found.target), .integer(found.position), .integer(found.position)) { row in
                let code = row.text(3)
                attempts.append(
                    PastAttempt(
                        at: row.time(0),
                        until: row.time(1),
                        count: Int(row.integer(2)),
                        failure: code.isEmpty ? nil : DeliveryFailure(.init(rawValue: code), row.text(4))
                    )
                )
            }
            records.append(
                OutboxRecord(
                    target: found.path,
                    event: found.event,
                    state: found.state,
                    due: found.due,
                    attempts: attempts,
                    place: RecordPlace(
                        time: found.event.createdAt.nanoseconds,
                        position: UInt64(clamping: found.position),
                        target: found.path
                    )
                )
            )
        }
        return records
    }

    /// An event at a connector.
    struct Place: Sendable {
        var target: Int64
        var position: Int64
        /// The size of the payload.
        var bytes: Int64
    }

    /// Where the events lie that a selection means, without their payloads.
    func places(_ selection: RecordSelection) throws(Database.Failure) -> [Place] {
        var places: [Place] = []
        try read(selection, payload: "length(payload)") { row in
            places.append(Place(target: row.integer(5), position: row.integer(0), bytes: row.integer(4)))
        }
        return places
    }

    /// Puts dead letters back in the queue, if they are dead letters still.
    ///
    /// - Returns: How many.
    func replay(_ places: ArraySlice<Place>, now: Timestamp) throws(Database.Failure) -> Int {
        var count = 0
        for letter in places {
            let place: [Statement.Value] = [.integer(letter.target), .integer(letter.position)]
            try statement("DELETE FROM dead WHERE target = ? AND position = ?").run(place)
            guard database.changes > 0 else { continue }
            try statement(
                """
                INSERT OR REPLACE INTO retries(target, position, due, attempts, since, renewed) VALUES(?1, ?2, ?3, 1, ?3, ?3)
                """
            ).run(place + [.time(now)])
            count += 1
        }
        return count
    }

    /// Drops waiting events and dead letters, if they are that still.
    ///
    /// - Returns: How many.
    func drop(_ places: ArraySlice<Place>) throws(Database.Failure) -> Int {
        var count = 0
        for place in places where try drop(place) { count += 1 }
        for target in Set(places.map(\.target)) { try passDropped(target) }
        return count
    }

    /// Drops the oldest events of a connector until their payloads free some bytes.
    func dropOldest(_ bytes: Int, of path: String) throws(Database.Failure) -> Int {
        guard let target = try target(path) else { return 0 }
        var (freed, count) = (0, 0)
        while freed < bytes {
            let oldest = try fresh(target, BatchLimits(count: 100, bytes: bytes - freed))
            guard !oldest.isEmpty else { break }
            for entry in oldest {
                let bytes = entry.event.payload.count
                if try drop(Place(target: target, position: entry.position, bytes: Int64(bytes))) { count += 1 }
                freed += bytes
            }
            try passDropped(target)
        }
        return count
    }

    /// Drops an event.
    ///
    /// - Returns: False if it neither waits nor is a dead letter.
    private func drop(_ place: Place) throws(Database.Failure) -> Bool {
        let values: [Statement.Value] = [.integer(place.target), .integer(place.position)]
        var isListed = false
        for table in ["dead", "retries"] {
            try statement("DELETE FROM \(table) WHERE target = ? AND position = ?").run(values)
            isListed = isListed || database.changes > 0
        }
        if !isListed {
            try statement(
                """
                INSERT OR IGNORE INTO skipped(target, position) SELECT target, ?2 FROM cursors
                WHERE target = ?1 AND route = ?2 >> \(Schema.sequenceBits) AND position < ?2
                """
            ).run(values)
            guard database.changes > 0 else { return false }
            try statement(
                "UPDATE cursors SET count = count + 1, bytes = bytes + ? WHERE target = ? AND route = ?"
            ).run(.integer(place.bytes), .integer(place.target), .integer(place.position >> Schema.sequenceBits))
        }
        try statement("UPDATE targets SET dropped = dropped + 1 WHERE target = ?").run(.integer(place.target))
        if isListed { try forget(place.position) }
        return true
    }
}
