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
        // Larger pages than usual hold more events and write fewer of them twice; a file that exists keeps its own.
        try database.run(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF"
        )
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
            next = try statement("SELECT max(next) FROM routes").integer() ?? 1
        }
        let insert = try insertStatement()
        var (count, bytes): (Int64, Int64) = (0, 0)
        var isNew: [Bool] = []
        isNew.reserveCapacity(events.count)
        for event in events {
            try insert.insert(
                route << Schema.sequenceBits | (next + count),
                event.id,
                text(of: event.lane),
                event.createdAt,
                event.payload
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

    /// The event in the columns id, lane, created and payload, after the position.
    func event(_ row: borrowing Statement.Row) -> OutboxEvent {
        let lane: Lane
        if let last = self.lane, row.isText(2, last.text) {
            lane = last.lane
        } else {
            let text = row.text(2)
            lane = Lane(text) ?? Lane("", text)
            self.lane = (lane, text)
        }
        return OutboxEvent(id: row.text(1), lane: lane, createdAt: row.time(3), payload: row.bytes(4))
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
        for (route, sums) in added.routes where sums.count > 0 {
            try statement("UPDATE routes SET count = count + ?, bytes = bytes + ?, next = ? WHERE route = ?")
                .run(.integer(sums.count), .integer(sums.bytes), .integer(next), .integer(route))
        }
        added = Added()
    }
}
