// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorOutbox

/// Copies the readable data of a damaged file into a new one.
///
/// Each table is read from both ends up to the damage, and then through its index. Missing rows are searched for page
/// by page, independently of the damaged structure; an index that lacks some values is read last. If the definitions of the tables or
/// the log are damaged, every page is searched. Counters are recomputed. So every value in the new file has been validated.
struct Salvage {
    private let path: String
    /// The new file.
    let tables: OutboxTables
    /// The damaged file, whose write lock is held; nil if SQLite cannot open it.
    private let locked: Database?
    /// The same, to read its tables; nil if their definitions are damaged, which SQLite would read them by.
    let damaged: Database?
    /// The pages of the damaged file; nil until they are needed.
    private var pages: PageScan?
    /// The tables that could not be read to the end.
    private var incomplete: Set<SalvagedTable> = []
    /// Whether it is not known for all queues how far their delivery had come.
    private var isProgressLost = false
    /// Whether all ids were read from their index, so that it is known which events are missing.
    private var isListed = false
    /// Whether there were counters to compare.
    private var isCounted = false
    /// The number of events that wait by the counters, and are not there.
    private var absent = 0
    /// The most events that may be missing where a position and the counters disagree.
    private var disputed = 0

    /// The time limit for reading the tables through SQLite, in nanoseconds; the rest is read page by page.
    private static let readLimit: UInt64 = 60_000_000_000

    /// The watch of the store that opens the file.
    private let watch: StatementWatch
    /// Counts the rows.
    let progress: SalvageProgress

    /// Opens a damaged file, and creates a new one.
    ///
    /// - Parameters:
    ///   - watch: Interrupts the salvage when the store closes.
    ///   - progress: Tells how far it is.
    /// - Throws: `SQLITE_BUSY` if another process keeps the damaged file locked.
    init(
        of path: String,
        into new: String,
        watch: StatementWatch,
        progress: SalvageProgress
    ) throws(Database.Failure) {
        self.path = path
        self.watch = watch
        self.progress = progress
        tables = try OutboxTables(new, watch: StatementWatch(limit: .max, within: watch))
        var opened: Database?
        // SQLite would delete a log whose file is empty.
        if !LogScan.isAlone(path) {
            do throws(Database.Failure) {
                let database = try Database(path, watch: StatementWatch(limit: Self.readLimit, within: watch))
                // A salvage that fails is begun again, and needs what is behind the damage of a log.
                database.leaveLog()
                try database.run("BEGIN IMMEDIATE")
                database.watch.begin()
                opened = database
            } catch {
                guard !error.isBusy else { throw error }
            }
        }
        locked = opened
        damaged = opened.flatMap { database in (try? Schema.check(database, path)) == nil ? nil : database }
    }

    /// Copies the readable data.
    ///
    /// - Throws: `SQLITE_INTERRUPT` if the store closes meanwhile; the damaged file is not changed.
    mutating func run() throws(Database.Failure) {
        try tables.database.run(
            """
            CREATE TEMP TABLE listed(position INTEGER PRIMARY KEY);
            CREATE TEMP TABLE counts(path, delivered, dropped, last);
            CREATE TEMP TABLE settled(target, position, page);
            CREATE TEMP TABLE entries(target, position, PRIMARY KEY(target, position)) WITHOUT ROWID;
            BEGIN IMMEDIATE
            """
        )
        for table in SalvagedTable.allCases {
            let isRead = try read(table)
            // The index may have a row that the table has lost without SQLite's noticing.
            let isIndexed = try table.hasPartialIndex ? false : readIndex(of: table)
            if !isRead, !isIndexed { incomplete.insert(table) }
            try checkOpen()
        }
        isListed = try readIDs()
        try checkOpen()
        // SQLite has read the file as of the damage; the first row with a key stays.
        let isLogDamaged = LogScan.damage(of: path) != nil
        if isLogDamaged { incomplete = Set(SalvagedTable.allCases) }
        if !incomplete.isEmpty || !isListed {
            // The rows of `attempts` have no key that would reveal duplicates.
            if incomplete.contains(.attempts) { try tables.database.run("DELETE FROM attempts") }
            let pages = PageScan(path)
            self.pages = pages
            let onPage = { [self] () throws(Database.Failure) in
                progress.look()
                try checkOpen()
            }
            try pages?.forEachRow(onPage: onPage) { row throws(Database.Failure) in
                switch row {
                case .listed(let position): try list(position)
                case .settled(let target, let position, let page):
                    try tables.statement("INSERT INTO settled VALUES(?, ?, ?)")
                        .run(.integer(target), .integer(position), .integer(Int64(page)))
                case .indexed(let target, let position):
                    try tables.statement("INSERT OR IGNORE INTO entries VALUES(?, ?)")
                        .run(.integer(target), .integer(position))
                case .row(let table, let values): if incomplete.contains(table) { try add(values, to: table) }
                }
            }
            try addSettled()
        }
        try correctPositions()
        try dropMistaken()
        // Only for rows that no page has: the first row with a key stays.
        damaged?.watch.begin()
        for table in SalvagedTable.allCases where table.hasPartialIndex { _ = try readIndex(of: table) }
        try complete()
        if isLogDamaged { isProgressLost = true }
        try tables.database.run("COMMIT")
    }

    /// Throws if the store closes. The next store that opens the file starts the salvage again.
    private func checkOpen() throws(Database.Failure) {
        guard watch.hasClosed else { return }
        throw Database.Failure(
            code: SQLITE_INTERRUPT,
            description: "the outbox was closed before its damaged file was salvaged",
            advice: "open it again: the damaged file is still in place"
        )
    }

    /// Completes the new file, and returns a summary of its contents.
    func finish() throws(Database.Failure) -> String {
        let statistics = try tables.statistics().values
        let waiting = statistics.reduce(0) { $0 + $1.queued }
        let dead = statistics.reduce(0) { $0 + $1.dead }
        let listed =
            try tables.statement("SELECT count(*) FROM listed WHERE position NOT IN (SELECT position FROM events)")
            .integer() ?? 0
        let lost = isListed ? Int(listed) : max(Int(listed), absent)
        let least = isListed ? "" : "at least "
        try tables.database.run("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA journal_mode = DELETE")
        let events = waiting == 1 ? "waiting event" : "waiting events"
        let letters = dead == 1 ? "dead letter" : "dead letters"
        let salvaged = "\(waiting) \(events) and \(dead) \(letters) were moved to a new file"
        let missing =
            if lost > 0 {
                "\(least)\(lost) \(lost == 1 ? "event" : "events") could not be read"
            } else if disputed > 0 {
                "up to \(disputed) more may be missing, by the counters"
            } else {
                isListed || isCounted ? "none is known to be missing" : "how many are missing is not known"
            }
        guard isProgressLost else { return "\(salvaged), \(missing)" }
        return "\(salvaged), \(missing); some connectors' progress was lost: they may get events again"
    }

    /// Releases the lock of the damaged file.
    mutating func release() {
        try? locked?.run("ROLLBACK")
        pages = nil
    }

    // MARK: Reading

    /// Reads a table in the order of its rows.
    ///
    /// - Returns: Whether it was read to the end.
    private func read(_ table: SalvagedTable) throws(Database.Failure) -> Bool {
        guard let damaged else { return false }
        let existing = names(of: table, in: damaged)
        guard !existing.isEmpty else { return false }
        let columns = table.columns.map { existing.contains($0) || !table.laterColumns.contains($0) ? $0 : "NULL" }
        for order in ["", "DESC"] {
            let key = table.key.replacing("%", with: order)
            if try scan(table, "SELECT \(columns.joined(separator: ", ")) FROM \(table) ORDER BY \(key) \(order)") {
                return true
            }
        }
        return false
    }

    /// Reads the rows of a table that its index has.
    ///
    /// - Returns: Whether the index was read to the end.
    private func readIndex(of table: SalvagedTable) throws(Database.Failure) -> Bool {
        guard let index = table.index else { return false }
        return try scan(
            table,
            "SELECT \(index.columns.joined(separator: ", ")) FROM \(table) INDEXED BY \(index.name) ORDER BY \(index.order)"
        )
    }

    /// The columns of a table in the damaged file.
    private func names(of table: SalvagedTable, in damaged: Database) -> Set<String> {
        var names: Set<String> = []
        try? damaged.statement("SELECT name FROM pragma_table_info('\(table)')").run { row in names.insert(row.text(0))
        }
        return names
    }

    /// Copies every row that a statement returns.
    ///
    /// - Returns: Whether the statement ran to its end.
    private func scan(_ table: SalvagedTable, _ select: String) throws(Database.Failure) -> Bool {
        guard let damaged else { return false }
        var failure: Database.Failure?
        do throws(Database.Failure) {
            try damaged.statement(select).run { row throws(Database.Failure) in
                let values = (0..<Int32(table.columns.count)).map { row.salvaged($0) }
                do throws(Database.Failure) {
                    try add(values, to: table)
                } catch {
                    failure = error
                    throw error
                }
            }
            return true
        } catch {
            // A failure to write the new file is not damage of the old one.
            if let failure { throw failure }
            return false
        }
    }

    /// Lists the positions of events, from the index of ids.
    ///
    /// - Returns: Whether it was read to the end.
    private func readIDs() throws(Database.Failure) -> Bool {
        guard let damaged else { return false }
        for order in ["", "DESC"] {
            do throws(Database.Failure) {
                let select = "SELECT position FROM events INDEXED BY sqlite_autoindex_events_1 ORDER BY id \(order)"
                var positions: [Int64] = []
                defer { for position in positions { try? list(position) } }
                try damaged.statement(select).run { row in
                    if let position = row.salvaged(0).integer(in: Schema.positions) { positions.append(position) }
                }
                return true
            } catch {
                continue
            }
        }
        return false
    }

    private func list(_ position: Int64) throws(Database.Failure) {
        try tables.statement("INSERT OR IGNORE INTO listed(position) VALUES(?)").run(.integer(position))
    }

    // MARK: Completing

    /// Deletes the routes whose connectors cannot be read, or that nothing refers to: their number may be another one.
    private static let dropMistakenRoutes = """
        DELETE FROM routes WHERE NOT json_valid(targets) OR json_type(targets) <> 'array';
        DELETE FROM routes WHERE EXISTS(SELECT 1 FROM cursors) AND route NOT IN (SELECT route FROM cursors)
            AND route NOT IN (SELECT position >> \(Schema.sequenceBits) FROM events)
        """

    /// Deletes routes and connectors whose number may be wrong, so that their indices can give the right one. The counts of a
    /// connector are kept.
    private func dropMistaken() throws(Database.Failure) {
        guard damaged != nil else { return }
        try tables.database.run(
            """
            \(Self.dropMistakenRoutes);
            INSERT INTO counts SELECT path, delivered, dropped, last FROM targets
                WHERE EXISTS(SELECT 1 FROM cursors) AND target NOT IN (SELECT target FROM cursors)
                AND path IN (SELECT json_each.value FROM routes, json_each(routes.targets));
            DELETE FROM targets WHERE path IN (SELECT path FROM counts)
            """
        )
    }

    /// Makes the rows consistent: adds missing connectors and cursors, deletes orphans, and recomputes the counters.
    private mutating func complete() throws(Database.Failure) {
        let bits = Schema.sequenceBits
        // The number of a lost connector may be given to another one below.
        for table in ["cursors", "retries", "dead", "skipped", "attempts"] {
            try tables.database.run("DELETE FROM \(table) WHERE target NOT IN (SELECT target FROM targets)")
        }
        try tables.database.run(
            """
            \(Self.dropMistakenRoutes);
            INSERT OR IGNORE INTO routes(route, targets, collected, count, bytes)
                SELECT route, json_group_array(path), route << \(bits), -1, -1 FROM cursors JOIN targets USING(target)
                WHERE route NOT IN (SELECT route FROM routes)
                AND route IN (SELECT position >> \(bits) FROM events) GROUP BY route;
            DELETE FROM events WHERE position >> \(bits) NOT IN (SELECT route FROM routes)
                OR position & \(Schema.sequences.upperBound) = 0;
            DELETE FROM cursors WHERE route NOT IN (
                SELECT route FROM routes, json_each(targets) WHERE json_each.value NOT IN (SELECT path FROM targets))
                AND NOT EXISTS(SELECT 1 FROM routes, json_each(routes.targets), targets AS known
                    WHERE routes.route = cursors.route AND known.path = json_each.value AND known.target = cursors.target);
            INSERT OR IGNORE INTO targets(path) SELECT value FROM routes, json_each(targets) WHERE json_each.type = 'text';
            UPDATE targets SET (delivered, dropped, last) = (
                SELECT delivered, dropped, last FROM counts WHERE counts.path = targets.path)
                WHERE path IN (SELECT path FROM counts);
            DELETE FROM cursors WHERE route NOT IN (SELECT route FROM routes);
            INSERT OR IGNORE INTO listed(position) SELECT position FROM events;
            """
        )
        try compareCounters()
        try tables.database.run(
            """
            INSERT OR IGNORE INTO cursors(target, route, position) SELECT target, route, collected
                FROM routes, json_each(targets), targets AS known WHERE known.path = json_each.value
            """
        )
        isProgressLost = isProgressLost || tables.database.changes > 0
        try tables.database.run(
            """
            UPDATE cursors SET position = min(position, (SELECT coalesce(max(position), route << \(bits)) FROM events
                WHERE position >= route << \(bits) AND position < (route + 1) << \(bits)));
            """
        )
        for table in ["retries", "dead", "skipped"] {
            try tables.database.run("DELETE FROM \(table) WHERE position NOT IN (SELECT position FROM events)")
        }
        // What is beyond a cursor whose progress was lost is delivered in its turn.
        for table in ["retries", "dead"] {
            try tables.database.run(
                """
                DELETE FROM \(table) WHERE EXISTS(SELECT 1 FROM cursors WHERE cursors.target = \(table).target
                    AND cursors.route = \(table).position >> \(bits) AND cursors.position < \(table).position)
                """
            )
        }
        // A dead letter is not retried.
        try tables.database.run(
            "DELETE FROM retries WHERE EXISTS(SELECT 1 FROM dead WHERE target = retries.target AND position = retries.position)"
        )
        if incomplete.contains(.retries) || incomplete.contains(.dead) { try inferRetries() }
        try tables.database.run(
            """
            UPDATE routes SET
                count = (SELECT count(*) FROM events WHERE position > route << \(bits) AND position < (route + 1) << \(bits)),
                bytes = (SELECT coalesce(sum(length(payload)), 0) FROM events
                    WHERE position > route << \(bits) AND position < (route + 1) << \(bits)),
                next = 1 + (SELECT coalesce(max(position & \(Schema.sequences.upperBound)), 0) FROM events);
            UPDATE cursors SET
                count = (SELECT count(*) FROM events WHERE \(Self.passed(bits))),
                bytes = (SELECT coalesce(sum(length(payload)), 0) FROM events WHERE \(Self.passed(bits)));
            \(Schema.countRetried);
            """
        )
    }

    /// Deletes the cursors whose position is wrong by the counters, so that their delivery begins again: a duplicate delivery is better than
    /// a lost event. Then notes what the counters say is missing.
    private mutating func compareCounters() throws(Database.Failure) {
        let sequence = "position & \(Schema.sequences.upperBound)"
        let isKnown = "routes.count >= 0 AND cursors.count >= 0"
        let compared = "SELECT count(*) FROM cursors JOIN routes USING(route) WHERE \(isKnown)"
        isCounted = try tables.statement(compared).integer() ?? 0 > 0
        try tables.database.run(
            """
            DELETE FROM cursors WHERE \(sequence) >= (SELECT max(bound) FROM (
                SELECT max(next) AS bound FROM routes UNION ALL SELECT 1 UNION ALL SELECT max(\(sequence)) + 1 FROM listed))
            """
        )
        let beyond = """
            AS found WHERE found.position > cursors.position AND found.position < (cursors.route + 1) << \(Schema.sequenceBits)
            AND NOT EXISTS(SELECT 1 FROM skipped WHERE skipped.target = cursors.target AND skipped.position = found.position)
            """
        if isListed {
            // If the bytes are right, it is the count that is damaged, and not the position.
            let disagree = """
                \(isKnown) AND routes.count - cursors.count > (SELECT count(*) FROM listed \(beyond))
                AND routes.bytes - cursors.bytes <> (SELECT coalesce(sum(length(found.payload)), 0) FROM events \(beyond))
                """
            disputed = Int(
                try tables.statement(
                    """
                    SELECT min(coalesce(sum(most), 0), \(Schema.counts.upperBound)) FROM (
                        SELECT min(\(Schema.sequences.upperBound), max(
                            routes.count - cursors.count - (SELECT count(*) FROM listed \(beyond)))) AS most
                        FROM cursors JOIN routes USING(route) WHERE \(disagree) GROUP BY cursors.route)
                    """
                ).integer() ?? 0
            )
            try tables.database.run(
                """
                DELETE FROM cursors WHERE EXISTS(
                    SELECT 1 FROM routes WHERE routes.route = cursors.route AND \(disagree))
                """
            )
        }
        let waiting = "(SELECT count(*) FROM events \(beyond))"
        absent = Int(
            try tables.statement(
                """
                SELECT min(coalesce(sum(most), 0), \(Schema.counts.upperBound)) FROM (
                    SELECT min(max(0, max(routes.count - cursors.count - \(waiting))), \(Schema.sequences.upperBound)) AS most
                    FROM cursors JOIN routes USING(route) WHERE \(isKnown) GROUP BY cursors.route)
                """
            ).integer() ?? 0
        )
        let repeated = try tables.statement(
            """
            SELECT count(*) FROM cursors JOIN routes USING(route)
            WHERE \(isKnown) AND routes.count - cursors.count < \(waiting)
            """
        ).integer()
        isProgressLost = repeated ?? 0 > 0
    }

    /// Tells the rows of `dead` and `skipped` apart, which look the same in a page: only those of `dead` are in its index.
    private func addSettled() throws(Database.Failure) {
        if incomplete.contains(.dead) {
            try tables.database.run(
                """
                INSERT OR IGNORE INTO dead(target, position) SELECT target, position FROM settled
                WHERE page IN (SELECT page FROM settled JOIN entries USING(target, position))
                AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = settled.target AND position = settled.position)
                """
            )
        }
        guard incomplete.contains(.skipped) else { return }
        try tables.database.run(
            """
            INSERT OR IGNORE INTO skipped(target, position) SELECT target, position FROM settled
            WHERE NOT EXISTS(SELECT 1 FROM dead WHERE target = settled.target AND position = settled.position)
            """
        )
    }

    /// The SQL condition that a cursor has passed an event, or will skip it.
    private static func passed(_ bits: Int64) -> String {
        """
        events.position > cursors.route << \(bits) AND events.position < (cursors.route + 1) << \(bits)
        AND (events.position <= cursors.position OR EXISTS(SELECT 1 FROM skipped
            WHERE skipped.target = cursors.target AND skipped.position = events.position))
        """
    }

    /// Queues events again whose last attempt failed and whose outcome is unknown: a duplicate delivery is better than a lost event.
    private mutating func inferRetries() throws(Database.Failure) {
        try tables.database.run(
            """
            INSERT OR IGNORE INTO retries(target, position, due, attempts)
            SELECT cursors.target, events.position, 0, 1 FROM attempts JOIN cursors USING(target)
            JOIN events ON events.position BETWEEN attempts.first AND attempts.last
                AND events.position >> \(Schema.sequenceBits) = cursors.route AND events.position <= cursors.position
            WHERE code IS NOT NULL
            AND NOT EXISTS(SELECT 1 FROM attempts AS later WHERE later.target = attempts.target AND later.code IS NULL
                AND events.position BETWEEN later.first AND later.last)
            AND NOT EXISTS(SELECT 1 FROM dead WHERE target = cursors.target AND position = events.position)
            AND NOT EXISTS(SELECT 1 FROM skipped WHERE target = cursors.target AND position = events.position)
            """
        )
        if tables.database.changes > 0 { isProgressLost = true }
    }
}
