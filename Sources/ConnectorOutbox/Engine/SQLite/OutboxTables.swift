// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The tables of an open file, with the statements that read and change them. It belongs to one thread.
final class OutboxTables {
    let database: Database
    private var statements: [String: Statement] = [:]
    /// The routes by their connectors; forgotten when a transaction fails, since it may have made some.
    private var routes: [[String]: Int64] = [:]
    /// What the events of the transaction under way add, which is written once at its end.
    private var added = Added()
    /// Inserts an event: the one statement that runs for each of them.
    private var insertion: Statement?
    /// The last lane, and its text.
    private var lane: (lane: Lane, text: String)?
    /// Whether commits are synchronised to the disk now.
    private var isStable = true

    /// What new events add to the counters.
    private struct Added {
        /// The number of the next event; nil before the first one.
        var next: Int64?
        var routes: [Int64: (count: Int64, bytes: Int64)] = [:]
    }

    /// Opens a file and brings it to the current version.
    init(_ path: String) throws(Database.Failure) {
        database = try Database(path)
        try database.run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF")
        try Schema.migrate(database)
    }

    /// A statement, compiled at its first use.
    func statement(_ text: String) throws(Database.Failure) -> Statement {
        if let statement = statements[text] { return statement }
        let made = try database.statement(text)
        statements[text] = made
        return made
    }

    /// How many steps of SQLite's virtual machine everything took so far: the cost, whatever the machine.
    var steps: Int { statements.values.reduce(0) { $0 + $1.steps } }

    /// Writes everything into a new file.
    func copy(to path: String) throws(Database.Failure) {
        try database.statement("VACUUM INTO ?").run(.text(path))
    }

    /// Does work in one transaction, which ends well or not at all.
    ///
    /// - Parameter isStable: Whether a loss of power may no longer undo it afterwards. A transaction that may be undone
    ///   becomes stable with the next one that may not.
    func transaction(
        isStable: Bool,
        _ body: (OutboxTables) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        if isStable != self.isStable {
            try database.run("PRAGMA synchronous = \(isStable ? "FULL" : "NORMAL")")
            self.isStable = isStable
        }
        try statement("BEGIN IMMEDIATE").run()
        do throws(Database.Failure) {
            try body(self)
            try count()
            try statement("COMMIT").run()
        } catch {
            routes = [:]
            added = Added()
            try? statement("ROLLBACK").run()
            throw error
        }
    }

    // MARK: Names

    /// Texts as a JSON array, which SQLite can read.
    static func list(_ texts: [String]) -> String {
        String(decoding: JSONValue.array(texts.map(JSONValue.string)).utf8(), as: UTF8.self)
    }

    /// The number of a connector; nil if it never had an event.
    func target(_ path: String) throws(Database.Failure) -> Int64? {
        try statement("SELECT target FROM targets WHERE path = ?").integer(.text(path))
    }

    /// The number of a set of connectors, new ones included.
    private func route(_ targets: [String]) throws(Database.Failure) -> Int64 {
        if let route = routes[targets] { return route }
        let text = Self.list(targets)
        let known = try statement("SELECT route FROM routes WHERE targets = ?").integer(.text(text))
        let route = if let known { known } else { try addRoute(text, targets) }
        routes[targets] = route
        return route
    }

    private func addRoute(_ text: String, _ targets: [String]) throws(Database.Failure) -> Int64 {
        let last = try statement("SELECT max(route) FROM routes").integer()
        let route = (last ?? 0) + 1
        let start = route << Schema.sequenceBits
        try statement("INSERT INTO routes(route, targets, collected) VALUES(?, ?, ?)")
            .run(.integer(route), .text(text), .integer(start))
        for path in targets {
            try statement("INSERT OR IGNORE INTO targets(path) VALUES(?)").run(.text(path))
            try statement(
                "INSERT INTO cursors(target, route, position) SELECT target, ?, ? FROM targets WHERE path = ?"
            )
            .run(.integer(route), .integer(start), .text(path))
        }
        return route
    }

    // MARK: Appending

    /// Stores events. One whose id is known is stored for those connectors alone that it was not stored for before.
    ///
    /// - Returns: Which are new.
    func append(_ events: [OutboxEvent], to targets: [String]) throws(Database.Failure) -> [Bool] {
        let route = try route(targets)
        let next: Int64
        if let known = added.next {
            next = known
        } else {
            next = try statement("SELECT value FROM counters WHERE name = 'next'").integer() ?? 1
        }
        let insert = try insertStatement()
        var (count, bytes): (Int64, Int64) = (0, 0)
        var isNew: [Bool] = []
        isNew.reserveCapacity(events.count)
        for event in events {
            try insert.run(
                .integer(route << Schema.sequenceBits | (next + count)),
                .text(event.id),
                .text(text(of: event.lane)),
                .time(event.createdAt),
                .blob(event.payload)
            )
            isNew.append(database.changes == 1)
            guard isNew[isNew.count - 1] else {
                try add(event.id, to: targets)
                continue
            }
            count += 1
            bytes += Int64(event.payload.count)
        }
        added.next = next + count
        added.routes[route, default: (0, 0)].count += count
        added.routes[route, default: (0, 0)].bytes += bytes
        return isNew
    }

    /// The statement that inserts an event, found without a look-up by its text.
    private func insertStatement() throws(Database.Failure) -> Statement {
        if let insertion { return insertion }
        let made = try statement(
            "INSERT OR IGNORE INTO events(position, id, lane, created, payload) VALUES(?, ?, ?, ?, ?)"
        )
        insertion = made
        return made
    }

    /// The text of a lane; events of one lane mostly follow each other.
    private func text(of lane: Lane) -> String {
        if let last = self.lane, last.lane == lane { return last.text }
        let text = lane.description
        self.lane = (lane, text)
        return text
    }

    /// Queues an event that is stored already for connectors that it was not stored for.
    private func add(_ id: String, to targets: [String]) throws(Database.Failure) {
        let found = try statement("SELECT position FROM events WHERE id = ?").integer(.text(id))
        guard let position = found else { return }
        for path in targets {
            try statement("INSERT OR IGNORE INTO targets(path) VALUES(?)").run(.text(path))
            try statement(
                """
                INSERT OR IGNORE INTO retries(target, position, due, attempts)
                SELECT target, ?1, 0, 1 FROM targets WHERE path = ?2
                AND NOT EXISTS(SELECT 1 FROM cursors WHERE target = targets.target AND route = ?1 >> \(Schema.sequenceBits))
                AND NOT EXISTS(SELECT 1 FROM dead WHERE target = targets.target AND position = ?1)
                AND NOT EXISTS(
                    SELECT 1 FROM attempts WHERE target = targets.target AND last >= ?1 AND first <= ?1 AND code IS NULL)
                """
            ).run(.integer(position), .text(path))
        }
    }

    /// Writes what the new events add to the counters. Whatever reads the counters needs it first.
    func count() throws(Database.Failure) {
        guard let next = added.next else { return }
        try statement("UPDATE counters SET value = ? WHERE name = 'next'").run(.integer(next))
        for (route, sums) in added.routes {
            try statement("UPDATE routes SET count = count + ?, bytes = bytes + ? WHERE route = ?")
                .run(.integer(sums.count), .integer(sums.bytes), .integer(route))
        }
        added = Added()
    }

    // MARK: Reading

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
            var entry = row.entry(attempts: Int(row.integer(5)))
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
                filling.add(row.entry(attempts: 0))
            }
            if !filling.entries.isEmpty { lists.append(filling.entries) }
        }
        guard lists.count > 1 else { return lists.first ?? [] }
        var filling = Filling(limits: limits)
        for entry in lists.joined().sorted(by: { $0.sequence < $1.sequence }) { filling.add(entry) }
        return filling.entries
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
