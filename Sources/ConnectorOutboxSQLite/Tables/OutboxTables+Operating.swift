// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Replaying and dropping events, for operators and full queues.
extension OutboxTables {
    /// Puts dead letters back in the queue, if they are still dead letters.
    ///
    /// - Returns: The number of replayed events.
    func replay(_ references: ArraySlice<EventReference>, now: Timestamp) throws(Database.Failure) -> Int {
        var count = 0
        for letter in references {
            let key: [Statement.Value] = [.integer(letter.target), .integer(letter.position)]
            try statement("DELETE FROM dead WHERE target = ? AND position = ?").run(key)
            guard database.changes > 0 else { continue }
            try statement(
                """
                INSERT OR REPLACE INTO retries(target, position, due, attempts, since, renewed) VALUES(?1, ?2, ?3, 1, ?3, ?3)
                """
            ).run(key + [.time(now)])
            try statement(
                "UPDATE targets SET retried = retried + 1, retried_bytes = retried_bytes + ?, turn = ? WHERE target = ?"
            ).run(.integer(letter.bytes), revisionValue(), .integer(letter.target))
            count += 1
        }
        return count
    }

    /// Stores events for one more connector, where their age starts again. An event that was dropped there, such as one that went to
    /// another connector before, waits there again.
    func store(_ events: [OutboxEvent], alsoFor path: String, now: Timestamp) throws(Database.Failure) {
        let isNew = try append(events, to: [path])
        guard let target = try target(path) else { return }
        for (event, isNew) in zip(events, isNew) where !isNew {
            let select = try statement("SELECT position FROM events WHERE id = ?")
            guard let position = try select.integer(.text(event.id), in: Schema.positions) else { continue }
            let bytes = Int64(event.payload.count)
            try restore(EventReference(target: target, position: position, bytes: bytes))
            try statement("UPDATE retries SET renewed = ? WHERE target = ? AND position = ?")
                .run(.time(now), .integer(target), .integer(position))
        }
    }

    /// Queues an event again if it was dropped: at its place, or, if the connector has passed that, for a retry.
    private func restore(_ reference: EventReference) throws(Database.Failure) {
        let key: [Statement.Value] = [.integer(reference.target), .integer(reference.position)]
        try statement("DELETE FROM skipped WHERE target = ? AND position = ?").run(key)
        guard database.changes > 0 else { return }
        try statement(
            """
            UPDATE cursors SET count = max(0, count - 1), bytes = max(0, bytes - ?)
            WHERE target = ? AND route = ? AND position < ?
            """
        ).run(
            .integer(reference.bytes),
            .integer(reference.target),
            .integer(Schema.route(of: reference.position)),
            .integer(reference.position)
        )
        let isPassed = database.changes == 0
        if isPassed {
            try statement("INSERT OR IGNORE INTO retries(target, position, due, attempts) VALUES(?, ?, 0, 1)").run(key)
        }
        let isRetried = isPassed && database.changes > 0
        try statement(
            "UPDATE targets SET retried = retried + ?, retried_bytes = retried_bytes + ?, turn = ? WHERE target = ?"
        ).run(
            .integer(isRetried ? 1 : 0),
            .integer(isRetried ? reference.bytes : 0),
            revisionValue(),
            .integer(reference.target)
        )
    }

    /// Drops events that are still in one of the states: waiting, or a dead letter. A dead letter may have been replayed since its
    /// reference was read.
    ///
    /// - Returns: The number of dropped events.
    func drop(
        _ references: ArraySlice<EventReference>,
        in states: Set<OutboxRecord.State>
    ) throws(Database.Failure) -> Int {
        var count = 0
        for reference in references where try drop(reference, in: states) { count += 1 }
        for target in Set(references.map(\.target)) { try passDropped(target) }
        return count
    }

    /// Stores events for the connectors whose queues have room, after dropping the oldest events of full queues if their policy
    /// says so.
    func append(
        _ events: [OutboxEvent],
        to paths: [String],
        within bounds: [String: QueueBound]
    ) throws(Database.Failure) -> StoringOutcome {
        let bytes = events.reduce(0) { $0.saturatingAdding($1.payload.count) }
        var outcome = StoringOutcome()
        var excess: [(path: String, bytes: Int, whenFull: DeliveryPolicy.WhenFull)] = []
        for path in paths {
            guard let bound = bounds[path] else { continue }
            let over = bound.excess(waiting: try waitingBytes(path), adding: bytes)
            guard over > 0 else { continue }
            guard bound.whenFull != .block else {
                outcome.full = path
                return outcome
            }
            excess.append((path, over, bound.whenFull))
        }
        outcome.paths = paths
        for (path, over, whenFull) in excess {
            if whenFull == .dropNewest {
                try countDropped(events.count, of: path)
                outcome.paths.removeAll { $0 == path }
            } else {
                let (ids, bytes) = try dropOldest(over, of: path)
                let oldest = try target(path).flatMap { target throws(Database.Failure) in try self.oldest(target) }
                outcome.dropped[path] = StoringOutcome.Dropped(ids: ids, bytes: bytes, oldest: oldest)
            }
        }
        let isApplied = outcome.paths.isEmpty ? [] : try append(events, to: outcome.paths)
        outcome.step = OutboxStep(revision: revision, isApplied: isApplied)
        return outcome
    }

    /// Stores and deletes an event on a reserved route, to detect any failure that storing a real event would meet.
    func prove() throws(Database.Failure) {
        var routes: [Int64] = []
        try statement("SELECT route FROM routes").run { row throws(Database.Failure) in
            routes.append(try row.integer(0, in: Schema.routes))
        }
        // If the volume has no room, delivered events make some.
        for route in routes { try collect(route) }
        try reserve(for: [])
        let position = Schema.positions(of: Schema.routes.upperBound).upperBound
        let delete = try statement("DELETE FROM events WHERE position = ?")
        // A file that this code did not write may have an event there.
        try delete.run(.integer(position))
        // The id is a blob, which equals no event's id: those are texts.
        try statement("INSERT INTO events(position, id, lane, created, payload) VALUES(?, x'00', '', 0, x'')")
            .run(.integer(position))
        try delete.run(.integer(position))
    }

    /// Drops the oldest events of a connector until their payloads add up to some bytes: first those never attempted, by position,
    /// then those waiting for a retry. Reads no payload, and no other event.
    ///
    /// - Returns: The ids of the dropped events, and the size of their payloads.
    func dropOldest(_ bytes: Int, of path: String) throws(Database.Failure) -> (ids: [String], bytes: Int) {
        guard let target = try target(path) else { return ([], 0) }
        var dropped = (ids: [String](), bytes: 0)
        var cursors = try cursors(of: target)
        while dropped.bytes < bytes, let (reference, id) = try oldest(target, &cursors),
            try drop(reference, in: [.queued])
        {
            dropped.ids.append(id)
            dropped.bytes += Int(reference.bytes)
        }
        try passDropped(target)
        return dropped
    }

    /// The oldest event of a connector that was never attempted; if there is none, the first waiting for a retry.
    ///
    /// - Parameter cursors: Where to start on each route; moved past the event.
    private func oldest(
        _ target: Int64,
        _ cursors: inout [Cursor]
    ) throws(Database.Failure) -> (reference: EventReference, id: String)? {
        var oldest: (reference: EventReference, id: String, index: Int)?
        let select = try statement("SELECT position, length(payload), id \(Self.eventsBeyondCursor)")
        for (index, cursor) in cursors.enumerated() {
            try select.run(.integer(cursor.position), .integer(cursor.end), .integer(target), .integer(1)) {
                row throws(Database.Failure) in
                let position = try row.integer(0, in: Schema.positions)
                let reference = EventReference(target: target, position: position, bytes: try row.integer(1))
                let number = Schema.sequence(of: position)
                if number < oldest.map({ Schema.sequence(of: $0.reference.position) }) ?? .max {
                    oldest = (reference, row.text(2), index)
                }
            }
        }
        if let oldest {
            cursors[oldest.index].position = oldest.reference.position
            return (oldest.reference, oldest.id)
        }
        var retried: (reference: EventReference, id: String)?
        try statement(
            """
            SELECT position, length(payload), id FROM retries JOIN events USING(position) WHERE target = ?
            ORDER BY position LIMIT 1
            """
        ).run(.integer(target)) { row throws(Database.Failure) in
            let position = try row.integer(0, in: Schema.positions)
            let reference = EventReference(target: target, position: position, bytes: try row.integer(1))
            retried = (reference, row.text(2))
        }
        return retried
    }

    /// Drops an event.
    ///
    /// - Returns: False if it is in none of the states.
    private func drop(
        _ reference: EventReference,
        in states: Set<OutboxRecord.State>
    ) throws(Database.Failure) -> Bool {
        let values: [Statement.Value] = [.integer(reference.target), .integer(reference.position)]
        func delete(_ text: String, _ state: OutboxRecord.State) throws(Database.Failure) -> Bool {
            guard states.contains(state) else { return false }
            try statement(text).run(values)
            return database.changes > 0
        }
        let isDead = try delete("DELETE FROM dead WHERE target = ? AND position = ?", .dead)
        let isRetried = try delete("DELETE FROM retries WHERE target = ? AND position = ?", .queued)
        let isListed = isDead || isRetried
        guard isListed || states.contains(.queued) else { return false }
        // Mark it as skipped, so that it does not count as delivered while it is remembered.
        try statement(
            """
            INSERT OR IGNORE INTO skipped(target, position) SELECT target, ?2 FROM cursors
            WHERE target = ?1 AND route = ?2 >> \(Schema.sequenceBits)\(isListed ? "" : " AND position < ?2")
            """
        ).run(values)
        if !isListed {
            guard database.changes > 0 else { return false }
            try statement(
                "UPDATE cursors SET count = count + 1, bytes = bytes + ? WHERE target = ? AND route = ?"
            ).run(.integer(reference.bytes), .integer(reference.target), .integer(Schema.route(of: reference.position)))
        }
        try statement(
            """
            UPDATE targets SET dropped = dropped + 1, retried = max(0, retried - ?),
            retried_bytes = max(0, retried_bytes - ?), turn = ? WHERE target = ?
            """
        ).run(
            .integer(isRetried ? 1 : 0),
            .integer(isRetried ? reference.bytes : 0),
            revisionValue(),
            .integer(reference.target)
        )
        if isListed { try forget(reference.position) }
        return true
    }
}
