// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox

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
    /// The last kind, and its text.
    private var kind: (kind: EventKind, text: String)?
    /// Whether commits are synchronised to the disk now.
    private var isStable = true
    /// What the file held when this connection last wrote: nil once another one may have written since.
    private var known: Known?
    /// Whether the transaction under way has written its turn.
    private var hasTurn = false
    /// Numbers the transactions of all files.
    private let turns: StoreTurns
    /// The number of the file among those that were opened.
    private let epoch: UInt64

    /// What a connection caches until another one writes.
    private struct Known {
        /// SQLite's number of what the others wrote.
        var others: Int64
        /// The turn of the last transaction.
        var turn: Int64
        /// The number of the next event.
        var next: Int64
    }

    /// What new events add to the counters.
    private struct Added {
        /// The number of the next event; nil before the first.
        var next: Int64?
        var routes: [Int64: (count: Int64, bytes: Int64)] = [:]
    }

    /// Opens a file, checks it, and brings it to the current version.
    init(
        _ path: String,
        watch: StatementWatch = StatementWatch(),
        turns: StoreTurns = StoreTurns()
    ) throws(Database.Failure) {
        database = try Database(path, watch: watch)
        self.turns = turns
        epoch = turns.epoch(of: database.file)
        // A file that is not ours stays unchanged.
        try Schema.check(database, path)
        // Larger pages than usual hold more events and write fewer of them twice; a file that exists keeps its own.
        try database.run(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF"
        )
        try Schema.migrate(database, path)
    }

    /// Opens a file of the current version beside the connection that writes it.
    init(reading path: String, watch: StatementWatch, turns: StoreTurns) throws(Database.Failure) {
        database = try Database(path, .reading, watch: watch)
        self.turns = turns
        epoch = turns.epoch(of: database.file)
        try Schema.check(database, path)
    }

    /// A statement, compiled at its first use.
    func statement(_ text: String) throws(Database.Failure) -> Statement {
        if let statement = statements[text] { return statement }
        let made = try database.statement(text)
        statements[text] = made
        return made
    }

    /// How many steps SQLite's virtual machine has run so far: a cost that does not depend on the machine.
    var steps: Int { statements.values.reduce(0) { $0 + $1.steps } }

    /// Writes everything into a new file.
    func copy(to path: String) throws(Database.Failure) {
        try database.statement("VACUUM INTO ?").run(.text(path))
    }

    /// Does work in one transaction, which commits, or rolls back on error.
    ///
    /// - Parameter isStable: Whether a loss of power may no longer undo it afterwards. A transaction that may be undone
    ///   becomes stable with the next one that may not.
    /// - Throws: ``Database/Failure/moved`` before anything is done if the file is not in its place.
    func transaction(
        isStable: Bool,
        _ body: (OutboxTables) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        database.watch.begin()
        if isStable != self.isStable {
            try database.run("PRAGMA synchronous = \(isStable ? "FULL" : "NORMAL")")
            self.isStable = isStable
        }
        try statement("BEGIN IMMEDIATE").run()
        do throws(Database.Failure) {
            // A process that replaces the file needs this lock, so from here on the file stays in place.
            guard database.isInPlace else { throw .moved }
            try look()
            try body(self)
            try count()
            try statement("COMMIT").run()
        } catch {
            routes = [:]
            added = Added()
            (known, hasTurn) = (nil, false)
            try? statement("ROLLBACK").run()
            throw error
        }
        if hasTurn {
            known?.turn += 1
            hasTurn = false
            turns.committed(UInt64(clamping: known?.turn ?? 0), epoch)
        }
    }

    /// Reads in one transaction, which takes no lock: it sees what was committed when it began.
    func snapshot(_ body: (OutboxTables) throws(Database.Failure) -> Void) throws(Database.Failure) {
        database.watch.begin()
        try statement("BEGIN").run()
        defer { try? statement("ROLLBACK").run() }
        try body(self)
    }

    // MARK: Turns

    /// Reloads the cache if another connection has written since the last transaction.
    private func look() throws(Database.Failure) {
        let others = try statement("PRAGMA data_version").integer(in: Int64.min...Int64.max) ?? 0
        guard known?.others != others else { return }
        let next = try statement("SELECT max(next) FROM routes").integer(in: Schema.sequences) ?? 1
        let passed = "SELECT count(*) FROM cursors WHERE position & \(Schema.sequences.upperBound) >= ?"
        guard try statement(passed).integer(.integer(next)) == 0 else {
            throw .damaged("connectors are beyond the number of the next event")
        }
        known = Known(others: others, turn: try lastTurn(), next: next)
    }

    /// The turn of the last transaction that this connection sees.
    private func lastTurn() throws(Database.Failure) -> Int64 {
        let select =
            "SELECT max(turn) FROM (SELECT max(turn) AS turn FROM routes UNION ALL SELECT max(turn) FROM targets)"
        return try statement(select).integer(in: StoreTurns.range) ?? 0
    }

    /// The number of the transaction under way, to be written with whatever it changes.
    func turnValue() -> Statement.Value {
        hasTurn = true
        return .integer((known?.turn ?? 0) + 1)
    }

    /// The number of the transaction under way among those of all files.
    var turn: UInt64 { turns.number(UInt64(clamping: (known?.turn ?? 0) + 1), epoch) }

    /// The number of the last transaction that a reader sees, and a number that changes when another process has written.
    func readingTurn() throws(Database.Failure) -> (turn: UInt64, version: Int64) {
        let last = UInt64(clamping: try lastTurn())
        return (turns.number(last, epoch), turns.foreign(upTo: last, epoch))
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
        let known = try statement("SELECT route FROM routes WHERE targets = ?").integer(.text(text), in: Schema.routes)
        let route = if let known { known } else { try addRoute(text, targets) }
        routes[targets] = route
        return route
    }

    private func addRoute(_ text: String, _ targets: [String]) throws(Database.Failure) -> Int64 {
        let last = try statement("SELECT max(route) FROM routes").integer(in: Schema.routes) ?? 0
        guard last < Schema.routes.upperBound else { throw .damaged("the routes are used up") }
        let route = last + 1
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
        let next = added.next ?? known?.next ?? 1
        guard Schema.sequences.upperBound - next >= Int64(events.count) else {
            throw .damaged("the numbers of events are used up")
        }
        let insert = try insertStatement()
        var (count, bytes): (Int64, Int64) = (0, 0)
        var isNew: [Bool] = []
        isNew.reserveCapacity(events.count)
        for event in events {
            try insert.insert(
                route << Schema.sequenceBits | (next + count),
                event.id,
                text(of: event.kind),
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
            "INSERT OR IGNORE INTO events(position, id, lane, created, payload, checksum) VALUES(?, ?, ?, ?, ?, ?)"
        )
        insertion = made
        return made
    }

    /// The text of a kind; events of one kind mostly follow each other.
    private func text(of kind: EventKind) -> String {
        if let last = self.kind, last.kind == kind { return last.text }
        let text = kind.description
        self.kind = (kind, text)
        return text
    }

    /// The event in the columns id, lane, created and payload, after the position.
    func event(_ row: borrowing Statement.Row) throws(Database.Failure) -> OutboxEvent {
        let kind: EventKind
        if let last = self.kind, row.isText(2, last.text) {
            kind = last.kind
        } else {
            let text = row.text(2)
            kind = EventKind(text) ?? EventKind("", text)
            self.kind = (kind, text)
        }
        return OutboxEvent(id: row.text(1), kind: kind, createdAt: try row.time(3), payload: row.bytes(4))
    }

    /// Queues an event that is stored already for connectors that it was not stored for.
    private func add(_ id: String, to targets: [String]) throws(Database.Failure) {
        let found = try statement("SELECT position FROM events WHERE id = ?").integer(.text(id), in: Schema.positions)
        // The insertion met another event in its place, rather than the same one.
        guard let position = found else { throw .damaged("the number of the next event is taken") }
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
            guard database.changes > 0 else { continue }
            let size = try statement("SELECT length(payload) FROM events WHERE position = ?").integer(
                .integer(position)
            )
            try statement(
                "UPDATE targets SET retried = retried + 1, retried_bytes = retried_bytes + ?, turn = ? WHERE path = ?"
            ).run(.integer(size ?? 0), turnValue(), .text(path))
        }
    }

    /// Writes what the new events add to the counters. Whatever reads the counters needs it first.
    func count() throws(Database.Failure) {
        guard let next = added.next else { return }
        for (route, sums) in added.routes where sums.count > 0 {
            try statement("UPDATE routes SET count = count + ?, bytes = bytes + ?, next = ?, turn = ? WHERE route = ?")
                .run(.integer(sums.count), .integer(sums.bytes), .integer(next), turnValue(), .integer(route))
        }
        known?.next = next
        added = Added()
    }
}
