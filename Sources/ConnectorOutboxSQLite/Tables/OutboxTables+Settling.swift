// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

/// Settling of events after an attempt, and deletion of events that are no longer needed.
extension OutboxTables {
    /// The number of delivered events to keep per route, so that they can still be looked up.
    private static let remembered: Int64 = 10_000
    /// The minimum number of events to collect in one pass.
    private static let collectedAtOnce: Int64 = 1000

    /// Records an attempt. Events that were dropped during the attempt, and that the vendor has taken, count as delivered.
    ///
    /// - Returns: For each event, whether it was still waiting; and how many were dropped and count as delivered now.
    func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) throws(Database.Failure) -> (isApplied: [Bool], restored: Int) {
        let isApplied = try settleWaiting(batch, outcomes, attempt)
        let taken = batch.entries.indices.filter { !isApplied[$0] && outcomes[$0] == .delivered }
        guard !taken.isEmpty, let target = try target(batch.path) else { return (isApplied, 0) }
        var restored = 0
        for position in taken.map({ batch.entries[$0].position }) {
            // Not an event that a cursor has yet to pass: it would wait again.
            try statement(
                """
                DELETE FROM skipped WHERE target = ?1 AND position = ?2 AND position <= (
                    SELECT position FROM cursors WHERE target = ?1 AND route = ?2 >> \(Schema.sequenceBits))
                """
            ).run(.integer(target), .integer(position))
            guard database.changes > 0 else { continue }
            try record(nil, at: attempt.at, target, position, position)
            restored += 1
        }
        guard restored > 0 else { return (isApplied, 0) }
        try statement(
            """
            UPDATE targets SET delivered = delivered + ?1, dropped = max(0, dropped - ?1), last = ?2, turn = ?3
            WHERE target = ?4
            """
        ).run(.integer(Int64(restored)), .time(attempt.at), revisionValue(), .integer(target))
        return (isApplied, restored)
    }

    /// Records an attempt at the events of a batch that are still waiting.
    ///
    /// - Returns: For each event, whether it was.
    private func settleWaiting(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) throws(Database.Failure) -> [Bool] {
        guard let target = try target(batch.path), let first = batch.entries.first else {
            return batch.entries.map { _ in false }
        }
        let isRetry = first.attempts > 0
        let isWaiting = try isWaiting(batch.entries, target, isRetry: isRetry)
        guard !isWaiting.contains(false) else {
            let waiting = batch.entries.indices.filter { isWaiting[$0] }
            let part = batch.keeping(waiting.map { batch.entries[$0] })
            let failures = waiting.map { attempt.failures[$0] }
            _ = try settleWaiting(part, waiting.map { outcomes[$0] }, Attempt(at: attempt.at, failures: failures))
            return isWaiting
        }
        try record(attempt, outcomes, of: batch, target)
        guard outcomes.contains(where: { $0 != .waiting }) else { return isWaiting }
        for (entry, outcome) in zip(batch.entries, outcomes) where isRetry || outcome != .delivered {
            let key: [Statement.Value] = [.integer(target), .integer(entry.position)]
            if isRetry, outcome != .waiting {
                try statement("DELETE FROM retries WHERE target = ? AND position = ?").run(key)
            }
            switch outcome {
            case .waiting, .delivered: break
            case .retry(let due):
                try statement(
                    "INSERT INTO retries(target, position, due, attempts, since, renewed) VALUES(?, ?, ?, ?, ?, ?)"
                ).run(
                    key + [
                        .time(due), .integer(Int64(entry.attempts + 1)), .time(attempt.at),
                        entry.renewedAt.map(Statement.Value.time) ?? .null,
                    ]
                )
            case .dead: try statement("INSERT OR IGNORE INTO dead(target, position) VALUES(?, ?)").run(key)
            }
        }
        let delivered = outcomes.count { $0 == .delivered }
        let (count, bytes) = Self.retried(batch.entries, outcomes, isRetry: isRetry)
        try statement(
            """
            UPDATE targets SET delivered = delivered + ?, last = coalesce(?, last),
            retried = max(0, retried + ?), retried_bytes = max(0, retried_bytes + ?), turn = ? WHERE target = ?
            """
        ).run(
            .integer(Int64(delivered)),
            delivered > 0 ? .time(attempt.at) : .null,
            .integer(count),
            .integer(bytes),
            revisionValue(),
            .integer(target)
        )
        if isRetry {
            for (entry, outcome) in zip(batch.entries, outcomes) where outcome == .delivered {
                try forget(entry.position)
            }
        } else {
            // New events are settled in order of arrival: only those before the first that is still waiting.
            try advance(target, past: batch.entries[..<(outcomes.firstIndex(of: .waiting) ?? outcomes.endIndex)])
        }
        return isWaiting
    }

    /// The change in the number and size of events waiting for a retry.
    private static func retried(
        _ entries: [OutboxBatch.Entry],
        _ outcomes: [DeliveryOutcome],
        isRetry: Bool
    ) -> (count: Int64, bytes: Int64) {
        var (count, bytes): (Int64, Int64) = (0, 0)
        for (entry, outcome) in zip(entries, outcomes) where outcome != .waiting {
            let isRetried = if case .retry = outcome { true } else { false }
            let change: Int64 = (isRetried ? 1 : 0) - (isRetry ? 1 : 0)
            count += change
            bytes += change * Int64(entry.bytes)
        }
        return (count, bytes)
    }

    /// Counts dropped events that were never stored.
    func countDropped(_ count: Int, of path: String) throws(Database.Failure) {
        try statement("INSERT OR IGNORE INTO targets(path) VALUES(?)").run(.text(path))
        try statement("UPDATE targets SET dropped = dropped + ?, turn = ? WHERE path = ?")
            .run(.integer(Int64(count)), revisionValue(), .text(path))
    }

    /// Whether each event of a batch is still waiting: an operator may have dropped some during the attempt.
    private func isWaiting(
        _ entries: [OutboxBatch.Entry],
        _ target: Int64,
        isRetry: Bool
    ) throws(Database.Failure) -> [Bool] {
        var result: [Bool] = []
        if isRetry {
            let select = try statement("SELECT 1 FROM retries WHERE target = ? AND position = ?")
            for entry in entries {
                result.append(try select.integer(.integer(target), .integer(entry.position)) != nil)
            }
            return result
        }
        var cursors: [Int64: Int64] = [:]
        for cursor in try self.cursors(of: target) { cursors[cursor.route] = cursor.position }
        var dropped: Set<Int64> = []
        for part in Self.parts(entries[...]).values {
            try statement("SELECT position FROM skipped WHERE target = ? AND position BETWEEN ? AND ?").run(
                .integer(target),
                .integer(part.first),
                .integer(part.last)
            ) { row throws(Database.Failure) in
                dropped.insert(try row.integer(0, in: Schema.positions))
            }
        }
        return entries.map { entry in
            entry.position > cursors[Schema.route(of: entry.position)] ?? 0 && !dropped.contains(entry.position)
        }
    }

    /// Moves the cursors of a connector past dropped events, so that these are collected, and not read again.
    func passDropped(_ target: Int64) throws(Database.Failure) {
        for cursor in try cursors(of: target) {
            let first = try statement("SELECT position \(Self.eventsBeyondCursor)").integer(
                .integer(cursor.position),
                .integer(cursor.end),
                .integer(target),
                .integer(1),
                in: Schema.positions
            )
            let last = try statement("SELECT max(position) FROM events WHERE position > ? AND position < ?")
                .integer(.integer(cursor.position), .integer(first ?? cursor.end), in: Schema.positions)
            guard let last else { continue }
            try statement("UPDATE cursors SET position = ? WHERE target = ? AND route = ?")
                .run(.integer(last), .integer(target), .integer(cursor.route))
            try collect(cursor.route)
        }
    }

    /// Restarts the waits of retries that start in the future, after the wall clock was set back.
    func rewind(_ path: String, now: Timestamp) throws(Database.Failure) {
        guard let target = try target(path) else { return }
        try statement("UPDATE retries SET due = due - (since - ?1), since = ?1 WHERE target = ?2 AND since > ?1")
            .run(.time(now), .integer(target))
    }

    /// Makes the retries of a connector due.
    func expediteRetries(of path: String, now: Timestamp) throws(Database.Failure) {
        guard let target = try target(path) else { return }
        try statement("UPDATE retries SET due = ?1 WHERE target = ?2 AND due > ?1").run(.time(now), .integer(target))
    }

    /// Moves the cursors of a connector past events.
    private func advance(_ target: Int64, past entries: ArraySlice<OutboxBatch.Entry>) throws(Database.Failure) {
        for (route, passed) in Self.parts(entries) {
            try retryRestored(target, route, besides: entries, passed)
            try statement(
                "UPDATE cursors SET position = ?, count = count + ?, bytes = bytes + ? WHERE target = ? AND route = ?"
            ).run(
                .integer(passed.last),
                .integer(passed.count),
                .integer(passed.bytes),
                .integer(target),
                .integer(route)
            )
            try collect(route)
        }
    }

    /// Sets the events to retry that a cursor is about to pass without an attempt: they were dropped when the batch was read, and were
    /// restored at their places during the attempt.
    private func retryRestored(
        _ target: Int64,
        _ route: Int64,
        besides entries: ArraySlice<OutboxBatch.Entry>,
        _ passed: Part
    ) throws(Database.Failure) {
        let cursor = try statement("SELECT position FROM cursors WHERE target = ? AND route = ?")
            .integer(.integer(target), .integer(route), in: Schema.positions(of: route))
        // Nothing is between positions that follow each other.
        guard let cursor, passed.last - cursor > passed.count else { return }
        let waiting = try statement(
            """
            SELECT max(0, (SELECT count(*) FROM events WHERE position > cursors.position AND position <= ?3)
                - (SELECT count(*) FROM skipped WHERE target = ?1 AND position > cursors.position AND position <= ?3))
            FROM cursors WHERE target = ?1 AND route = ?2
            """
        ).integer(.integer(target), .integer(route), .integer(passed.last))
        guard waiting ?? 0 > passed.count else { return }
        let attempted = Set(entries.map(\.position))
        var restored: [(position: Int64, bytes: Int64)] = []
        try statement(
            """
            SELECT position, length(payload) FROM events
            WHERE position > (SELECT position FROM cursors WHERE target = ?1 AND route = ?2) AND position <= ?3
            AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = ?1 AND position = events.position)
            """
        ).run(.integer(target), .integer(route), .integer(passed.last)) { row throws(Database.Failure) in
            let position = try row.integer(0, in: Schema.positions)
            if !attempted.contains(position) { restored.append((position: position, bytes: try row.integer(1))) }
        }
        for event in restored {
            try statement("INSERT OR IGNORE INTO retries(target, position, due, attempts) VALUES(?, ?, 0, 1)")
                .run(.integer(target), .integer(event.position))
            guard database.changes > 0 else { continue }
            try statement(
                "UPDATE targets SET retried = retried + 1, retried_bytes = retried_bytes + ? WHERE target = ?"
            ).run(.integer(event.bytes), .integer(target))
        }
        try statement("UPDATE cursors SET count = count + ?, bytes = bytes + ? WHERE target = ? AND route = ?").run(
            .integer(Int64(restored.count)),
            .integer(restored.reduce(0) { $0 + $1.bytes }),
            .integer(target),
            .integer(route)
        )
    }

    /// The entries of one route in a batch.
    private struct Part {
        var first: Int64
        var last: Int64
        var count: Int64 = 0
        var bytes: Int64 = 0
    }

    /// The entries of each route, which are in order of position.
    private static func parts(_ entries: ArraySlice<OutboxBatch.Entry>) -> [Int64: Part] {
        var parts: [Int64: Part] = [:]
        for entry in entries {
            let position = entry.position
            let route = Schema.route(of: position)
            var part = parts[route] ?? Part(first: position, last: position)
            part.last = position
            part.count += 1
            part.bytes += Int64(entry.bytes)
            parts[route] = part
        }
        return parts
    }

    // MARK: Attempts

    /// Records an attempt: one row for each run of events with the same outcome, and none for those that were not sent. Merged with the
    /// previous attempt if its outcome was the same.
    private func record(
        _ attempt: Attempt,
        _ outcomes: [DeliveryOutcome],
        of batch: OutboxBatch,
        _ target: Int64
    ) throws(Database.Failure) {
        func wasSent(_ index: Int) -> Bool { attempt.failures[index] != nil || outcomes[index] == .delivered }
        var start = 0
        for index in batch.entries.indices {
            let isLast = index + 1 == batch.entries.count
            let isRunning =
                !isLast && attempt.failures[index + 1] == attempt.failures[index]
                && wasSent(index + 1) == wasSent(index)
                && Schema.route(of: batch.entries[index + 1].position)
                    == Schema.route(of: batch.entries[index].position)
                && batch.entries[index].attempts == 0
            if isRunning { continue }
            let (first, last) = (batch.entries[start].position, batch.entries[index].position)
            if wasSent(index) { try record(attempt.failures[index], at: attempt.at, target, first, last) }
            start = index + 1
        }
    }

    private func record(
        _ failure: DeliveryFailure?,
        at time: Timestamp,
        _ target: Int64,
        _ first: Int64,
        _ last: Int64
    ) throws(Database.Failure) {
        let (code, reason) = (failure?.code.rawValue, failure?.reason)
        try statement(
            """
            UPDATE attempts SET until = ?, count = count + 1 WHERE target = ? AND first = ? AND last = ?
            AND code IS ? AND reason IS ?
            AND rowid = (SELECT max(rowid) FROM attempts WHERE target = ? AND last = ?)
            """
        ).run(
            .time(time),
            .integer(target),
            .integer(first),
            .integer(last),
            .text(orNull: code),
            .text(orNull: reason),
            .integer(target),
            .integer(last)
        )
        guard database.changes == 0 else { return }
        try statement(
            "INSERT INTO attempts(target, first, last, at, until, count, code, reason) VALUES(?, ?, ?, ?, ?, 1, ?, ?)"
        ).run(
            .integer(target),
            .integer(first),
            .integer(last),
            .time(time),
            .time(time),
            .text(orNull: code),
            .text(orNull: reason)
        )
    }

    // MARK: Collecting

    /// Deletes the events of a route that every connector has passed, except the last ones and those still needed. On a volume with little
    /// room it deletes the last ones, too, some at a time.
    func collect(_ route: Int64) throws(Database.Failure) {
        let range = Schema.positions(of: route)
        let start =
            try statement("SELECT collected FROM routes WHERE route = ?").integer(.integer(route), in: range) ?? 0
        let passed =
            try statement("SELECT min(position) FROM cursors WHERE route = ?").integer(.integer(route), in: range) ?? 0
        let most = try shortage()
        var end = passed - (most == nil ? Self.remembered : 0)
        guard end - start >= (most == nil ? Self.collectedAtOnce : 1) else { return }
        if let most {
            var (bytes, last) = (Int64(0), end)
            try statement(
                "SELECT position, length(payload) FROM events WHERE position > ? AND position <= ? ORDER BY position"
            )
            .run(
                [.integer(start), .integer(end)],
                until: { row throws(Database.Failure) in
                    bytes += try row.integer(1) + 500
                    if bytes > most { last = try row.integer(0, in: range) }
                    return bytes > most
                }
            )
            end = last
        }
        try statement(
            """
            DELETE FROM events WHERE position > ?1 AND position <= ?2
            AND position NOT IN (SELECT position FROM retries WHERE position > ?1 AND position <= ?2)
            AND position NOT IN (SELECT position FROM dead WHERE position > ?1 AND position <= ?2)
            """
        ).run(.integer(start), .integer(end))
        try statement(
            """
            DELETE FROM skipped WHERE position > ? AND position <= ?
            AND NOT EXISTS(SELECT 1 FROM events WHERE position = skipped.position)
            """
        ).run(.integer(start), .integer(end))
        try statement(
            """
            DELETE FROM attempts WHERE target IN (SELECT target FROM cursors WHERE route = ?3) AND last > ?1 AND last <= ?2
            AND NOT EXISTS(SELECT 1 FROM events WHERE position BETWEEN first AND last)
            """
        ).run(.integer(start), .integer(end), .integer(route))
        try statement("UPDATE routes SET collected = ? WHERE route = ?").run(.integer(end), .integer(route))
    }

    /// Deletes an event that is no longer waiting for a retry or a dead letter, if its route has been collected past it and nothing
    /// else refers to it.
    func forget(_ position: Int64) throws(Database.Failure) {
        try statement(
            """
            DELETE FROM events WHERE position = ?1
            AND position <= (SELECT collected FROM routes WHERE route = ?1 >> \(Schema.sequenceBits))
            AND NOT EXISTS(SELECT 1 FROM retries WHERE position = ?1)
            AND NOT EXISTS(SELECT 1 FROM dead WHERE position = ?1)
            """
        ).run(.integer(position))
        guard database.changes == 1 else { return }
        try statement("DELETE FROM attempts WHERE first = ?1 AND last = ?1").run(.integer(position))
        // Naming the targets lets SQLite use the table's key, which begins with the target.
        try statement(
            "DELETE FROM skipped WHERE position = ?1 AND target IN (SELECT target FROM targets)"
        ).run(.integer(position))
    }
}
