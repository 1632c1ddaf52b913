// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// The tables of an open file, with the statements that read and change them. Used by one thread.
final class OutboxTables {
    let database: Database
    private var statements: [String: Statement] = [:]
    /// A cache of routes by connectors; cleared when another connection has written, and when a transaction fails, which may have
    /// created some.
    private var routes: [[String]: Int64] = [:]
    /// The additions of the current transaction to the counters, written once at its end.
    private var added = Added()
    /// The statement that inserts an event, cached because it runs for every event.
    private var insertion: Statement?
    /// The last event kind and its text, cached because consecutive events mostly have the same kind.
    private var kind: (kind: EventKind, text: String)?
    /// Whether commits are currently synchronized to the disk.
    private var isStable = true
    /// Cached values of the file as of this connection's last write; nil if unknown.
    private var known: Known?
    /// Whether the current transaction has written its revision.
    private var hasRevision = false
    /// The numbers of the transactions of all files.
    private let revisions: StoreRevisions
    /// The number of the file in the order of opening.
    private let epoch: UInt64
    /// The reserve on the volume; nil if nothing bounds the outbox.
    private let volumeReserve: VolumeReserve?
    /// The allowance of the current transaction for new events; nil before the first. One that holds is kept for the next transaction.
    private var allowance: VolumeReserve.Allowance?
    /// The size of a page, in bytes.
    private var pageSize: Int64 = 8192

    /// Values that are cached until another connection writes.
    private struct Known {
        /// SQLite's data version, which changes when another connection writes.
        var others: Int64
        /// The revision of the last transaction.
        var revision: Int64
        /// The next sequence number.
        var next: Int64
    }

    /// The additions of new events to the counters.
    private struct Added {
        /// The next sequence number; nil before the first event.
        var next: Int64?
        var routes: [Int64: (count: Int64, bytes: Int64)] = [:]
    }

    /// Opens a file for writing, checks it, and migrates it to the current version.
    ///
    /// - Parameter space: Tells the space of the file's volume, of which new events leave some; nil if nothing bounds it.
    init(
        _ path: String,
        watch: StatementWatch = StatementWatch(),
        revisions: StoreRevisions = StoreRevisions(),
        space: (@Sendable () -> VolumeSpace?)? = nil
    ) throws(Database.Failure) {
        database = try Database(path, watch: watch)
        self.revisions = revisions
        volumeReserve = space.map { VolumeReserve(path, $0) }
        epoch = revisions.epoch(of: database.file)
        // Check before the first write, so that a foreign file stays unchanged.
        try Schema.check(database, path)
        // Larger pages hold more events, so fewer pages are written twice; an existing file keeps its page size.
        try database.run(
            "PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = OFF"
        )
        if let volumeReserve {
            pageSize = try statement("PRAGMA page_size").integer() ?? pageSize
            try database.run("PRAGMA wal_autocheckpoint = \(volumeReserve.checkpointPages(of: pageSize))")
        }
        try Schema.migrate(database, path)
        database.noteLog()
        try snapshot { tables throws(Database.Failure) in try tables.checkProgress() }
    }

    /// Opens a file of the current version for reading.
    init(reading path: String, watch: StatementWatch, revisions: StoreRevisions) throws(Database.Failure) {
        database = try Database(path, .reading, watch: watch)
        self.revisions = revisions
        volumeReserve = nil
        epoch = revisions.epoch(of: database.file)
        try Schema.check(database, path)
        database.noteLog()
    }

    /// A statement, compiled on first use and cached.
    func statement(_ text: String) throws(Database.Failure) -> Statement {
        if let statement = statements[text] { return statement }
        let made = try database.statement(text)
        statements[text] = made
        return made
    }

    /// The number of steps that SQLite's virtual machine has run: a cost that does not depend on the hardware.
    var steps: Int { statements.values.reduce(0) { $0 + $1.steps } }

    /// Copies all data into a new file.
    func copy(to path: String) throws(Database.Failure) {
        database.watch.beginCopy()
        defer { database.watch.begin() }
        // As when it opens a file, SQLite may refuse a link on the way.
        try database.statement("VACUUM INTO ?").run(.text(path.placePath ?? path))
    }

    /// Runs a body in a transaction. Commits, or rolls back on error.
    ///
    /// - Parameter isStable: Whether the transaction must survive a power failure. One that need not becomes stable with the next
    ///   stable one.
    /// - Throws: ``Database/Failure/moved``, before the body runs, if the file is not at its path.
    func transaction(
        isStable: Bool,
        _ body: (OutboxTables) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        database.watch.begin()
        if let known = allowance, volumeReserve?.holds(known) != true { allowance = nil }
        if isStable != self.isStable {
            try database.run("PRAGMA synchronous = \(isStable ? "FULL" : "NORMAL")")
            self.isStable = isStable
        }
        try statement("BEGIN IMMEDIATE").run()
        do throws(Database.Failure) {
            // A process that replaces the file needs this lock, so the file stays in place from here on.
            guard database.isInPlace else { throw .moved }
            try refreshCache()
            try body(self)
            try flushCounters()
            try statement("COMMIT").run()
        } catch {
            routes = [:]
            added = Added()
            (known, hasRevision) = (nil, false)
            try? statement("ROLLBACK").run()
            throw error
        }
        if hasRevision {
            known?.revision += 1
            hasRevision = false
            revisions.committed(UInt64(clamping: known?.revision ?? 0), epoch)
        }
    }

    /// Runs a body in a reading transaction without a lock, which sees the state committed when it began.
    func snapshot<Value: Sendable>(
        _ body: @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) throws(Database.Failure) -> Value {
        database.watch.begin()
        try statement("BEGIN").run()
        defer { try? statement("ROLLBACK").run() }
        return try body(self)
    }

    // MARK: Revisions

    /// Reloads the cache if another connection has written since the last transaction.
    private func refreshCache() throws(Database.Failure) {
        let others = try statement("PRAGMA data_version").integer(in: Int64.min...Int64.max) ?? 0
        guard known?.others != others else { return }
        // Another process may have given a connector another path.
        routes = [:]
        known = Known(others: others, revision: try lastRevision(), next: try nextSequence())
    }

    /// The next sequence number, which no cursor has reached.
    func nextSequence() throws(Database.Failure) -> Int64 {
        let next = try statement("SELECT max(next) FROM routes").integer(in: Schema.sequences) ?? 1
        let passed = "SELECT count(*) FROM cursors WHERE position & \(Schema.sequences.upperBound) >= ?"
        guard try statement(passed).integer(.integer(next)) == 0 else {
            throw .damaged("a cursor is beyond the next sequence number")
        }
        return next
    }

    /// The revision of the last transaction that this connection sees.
    private func lastRevision() throws(Database.Failure) -> Int64 {
        let select =
            "SELECT max(turn) FROM (SELECT max(turn) AS turn FROM routes UNION ALL SELECT max(turn) FROM targets)"
        return try statement(select).integer(in: StoreRevisions.range) ?? 0
    }

    /// The revision of the current transaction, to be written to a row that it changes.
    func revisionValue() -> Statement.Value {
        hasRevision = true
        return .integer((known?.revision ?? 0) + 1)
    }

    /// The number of the current transaction, unique across files.
    var revision: UInt64 { revisions.number(UInt64(clamping: (known?.revision ?? 0) + 1), epoch) }

    /// The number of the last transaction that a reader sees, and a version that changes when another process has written.
    func readingRevision() throws(Database.Failure) -> (revision: UInt64, version: Int64) {
        let last = UInt64(clamping: try lastRevision())
        return (revisions.number(last, epoch), revisions.foreign(upTo: last, epoch))
    }

    // MARK: Names

    /// A JSON array of texts, for SQLite's JSON functions.
    static func list(_ texts: [String]) -> String {
        String(decoding: JSONValue.array(texts.map(JSONValue.string)).utf8(), as: UTF8.self)
    }

    /// The number of a connector; nil if it was never sent an event.
    func target(_ path: String) throws(Database.Failure) -> Int64? {
        try statement("SELECT target FROM targets WHERE path = ?").integer(.text(path))
    }

    /// The route of a set of connectors; adds it if it does not exist.
    private func route(_ paths: [String]) throws(Database.Failure) -> Int64 {
        if let route = routes[paths] { return route }
        let text = Self.list(paths)
        let known = try statement("SELECT route FROM routes WHERE targets = ?").integer(.text(text), in: Schema.routes)
        let route = if let known { known } else { try addRoute(text, paths) }
        routes[paths] = route
        return route
    }

    private func addRoute(_ text: String, _ paths: [String]) throws(Database.Failure) -> Int64 {
        let last = try statement("SELECT max(route) FROM routes").integer(in: Schema.routes) ?? 0
        guard last < Schema.routes.upperBound else { throw .damaged("there are no free route numbers") }
        let route = last + 1
        let start = route << Schema.sequenceBits
        try statement("INSERT INTO routes(route, targets, collected) VALUES(?, ?, ?)")
            .run(.integer(route), .text(text), .integer(start))
        for path in paths {
            try statement("INSERT OR IGNORE INTO targets(path) VALUES(?)").run(.text(path))
            try statement(
                "INSERT INTO cursors(target, route, position) SELECT target, ?, ? FROM targets WHERE path = ?"
            )
            .run(.integer(route), .integer(start), .text(path))
        }
        return route
    }

    /// Gives a connector another path, with everything stored for it.
    ///
    /// - Returns: False, without a change, if the other path has or had events of its own.
    func rename(_ path: String, to other: String) throws(Database.Failure) -> Bool {
        guard try target(other) == nil else { return false }
        var lists: [(route: Int64, paths: String)] = []
        try statement("SELECT route, targets FROM routes").run { row throws(Database.Failure) in
            lists.append((try row.integer(0, in: Schema.routes), row.text(1)))
        }
        for (route, text) in lists {
            guard let names = try? JSONValue(parsing: Array(text.utf8), file: "").array?.compactMap(\.string),
                names.contains(path)
            else { continue }
            let renamed = names.map { $0 == path ? other : $0 }
            try statement("UPDATE routes SET targets = ?, turn = ? WHERE route = ?")
                .run(.text(Self.list(renamed)), revisionValue(), .integer(route))
        }
        try statement("UPDATE targets SET path = ?, turn = ? WHERE path = ?")
            .run(.text(other), revisionValue(), .text(path))
        routes = [:]
        return true
    }

    // MARK: Appending

    /// Stores events. An event whose id already exists is only added for connectors that did not have it.
    ///
    /// - Returns: For each event, whether it is new.
    /// - Throws: ``Database/Failure/conflict(_:)`` if other connectors have another event with its id.
    func append(_ events: [OutboxEvent], to paths: [String]) throws(Database.Failure) -> [Bool] {
        let route = try route(paths)
        let next = added.next ?? known?.next ?? 1
        guard Schema.sequences.upperBound - next >= Int64(events.count) else {
            throw .damaged("there are no free sequence numbers")
        }
        try reserve(for: events)
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
                try add(event, to: paths)
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

    /// Takes space on the volume for new events; nothing else is subject to the reserve.
    ///
    /// - Throws: `SQLITE_FULL` if the rest is reserved for what empties the outbox.
    func reserve(for events: [OutboxEvent]) throws(Database.Failure) {
        guard let volumeReserve, var rest = try measuredAllowance() else { return }
        try volumeReserve.take(events.reduce(0) { $0 + size(of: $1) }, of: &rest)
        allowance = rest
    }

    /// Whether the volume has so little room that delivered events are not worth remembering; with how many bytes of events one
    /// transaction may delete then, nil if it has enough.
    func shortage() throws(Database.Failure) -> Int64? {
        guard let volumeReserve, let rest = try measuredAllowance(), volumeReserve.isShort(rest) else { return nil }
        return max(256 << 10, volumeReserve.share / 2)
    }

    /// The allowance for new events, measured at most once per transaction; nil if nothing bounds the outbox.
    private func measuredAllowance() throws(Database.Failure) -> VolumeReserve.Allowance? {
        guard let volumeReserve else { return nil }
        if allowance == nil {
            let pages = try statement("PRAGMA page_count").integer() ?? 0
            let free = try statement("PRAGMA freelist_count").integer() ?? 0
            allowance = volumeReserve.allowance(size: pages * pageSize, spare: free * pageSize)
        }
        return allowance
    }

    /// The bytes that an event takes in the tables at most, with its entry in the index and what it leaves of its pages.
    private func size(of event: OutboxEvent) -> Int64 {
        let (bytes, part) = (Int64(event.payload.count) + 200, pageSize / 2)
        return bytes > part / 2 ? (bytes + part - 1) / part * part : bytes
    }

    /// The statement that inserts an event, without a look-up by its text.
    private func insertStatement() throws(Database.Failure) -> Statement {
        if let insertion { return insertion }
        let made = try statement(
            "INSERT OR IGNORE INTO events(position, id, lane, created, payload, checksum) VALUES(?, ?, ?, ?, ?, ?)"
        )
        insertion = made
        return made
    }

    /// The text of a kind, from the cache if it was the last one.
    private func text(of kind: EventKind) -> String {
        if let last = self.kind, last.kind == kind { return last.text }
        let text = kind.description
        self.kind = (kind, text)
        return text
    }

    /// The event in the columns position, id, lane, created and payload; with the earliest time if the disk has made it negative.
    func event(_ row: borrowing Statement.Row) throws(Database.Failure) -> OutboxEvent {
        OutboxEvent(id: row.text(1), kind: readKind(row), createdAt: try row.sendingTime(3), payload: row.bytes(4))
    }

    /// The kind in the column lane, the third, from the cache if it was the last one.
    func readKind(_ row: borrowing Statement.Row) -> EventKind {
        if let last = self.kind, row.isText(2, last.text) { return last.kind }
        let text = row.text(2)
        let kind = EventKind(text) ?? EventKind("", text)
        self.kind = (kind, text)
        return kind
    }

    /// Queues an event, whose id exists, for the connectors that did not have it.
    private func add(_ event: OutboxEvent, to paths: [String]) throws(Database.Failure) {
        let select = try statement("SELECT position FROM events WHERE id = ?")
        let found = try select.integer(.text(event.id), in: Schema.positions)
        // The insertion conflicted with another event at its position, not with its id.
        guard let position = found else { throw .damaged("the next sequence number is already in use") }
        for path in paths {
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
            var stored: OutboxEvent?
            try statement("SELECT position, id, lane, created, payload FROM events WHERE position = ?")
                .run(.integer(position)) { row throws(Database.Failure) in stored = try self.event(row) }
            // The connector would get what was sent to others.
            guard let stored, event.isRepetition(of: stored) else { throw .conflict(event.id) }
            try statement(
                "UPDATE targets SET retried = retried + 1, retried_bytes = retried_bytes + ?, turn = ? WHERE path = ?"
            ).run(.integer(Int64(stored.payload.count)), revisionValue(), .text(path))
        }
    }

    /// Writes the additions of new events to the counters. Call it before reading the counters.
    func flushCounters() throws(Database.Failure) {
        guard let next = added.next else { return }
        for (route, sums) in added.routes where sums.count > 0 {
            try statement("UPDATE routes SET count = count + ?, bytes = bytes + ?, next = ?, turn = ? WHERE route = ?")
                .run(.integer(sums.count), .integer(sums.bytes), .integer(next), revisionValue(), .integer(route))
        }
        known?.next = next
        added = Added()
    }
}
