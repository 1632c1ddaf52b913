// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The tables of an outbox, and how older files become the current version.
///
/// A *route* is a set of connectors that events go to together. An event's position is its route's number, shifted by 40
/// bits, and its own number, which grows through all routes. So the events of a route lie side by side in the order of
/// their arrival, one insertion stores an event whoever it goes to, and a connector's progress is one position for each
/// route: the cursor. Everything up to a cursor is delivered or dropped, except what `retries` and `dead` list; what
/// `skipped` lists beyond it was dropped.
enum Schema {
    /// The version that this code reads and writes.
    static let version: Int64 = 4

    /// The bits of a position that number the event.
    static let sequenceBits: Int64 = 40
    /// The numbers that a route can have: the position beyond the last one is a number still.
    static let routes: ClosedRange<Int64> = 1...(1 << 22)
    /// The numbers that an event can have.
    static let sequences: ClosedRange<Int64> = 1...((1 << sequenceBits) - 1)
    /// The range of a count, a size or a connector's number: sums of many still fit.
    static let counts: ClosedRange<Int64> = 0...(1 << 48)
    /// What a moment can be, in nanoseconds.
    static let times: ClosedRange<Int64> = 0...Int64.max
    /// The route of a position.
    static func route(of position: Int64) -> Int64 { position >> sequenceBits }
    /// The event's number among those of all routes.
    static func sequence(of position: Int64) -> Int64 { position & sequences.upperBound }
    /// The positions of a route, its start included.
    static func positions(of route: Int64) -> ClosedRange<Int64> {
        let start = min(max(route, 0), routes.upperBound) << sequenceBits
        return start...(start + sequences.upperBound)
    }
    /// The positions of all routes.
    static let positions = positions(of: routes.lowerBound).lowerBound...positions(of: routes.upperBound).upperBound

    /// The steps from each version to the next, beginning with an empty file.
    static let steps = [
        """
        CREATE TABLE routes(
            route INTEGER PRIMARY KEY, targets TEXT NOT NULL UNIQUE,
            count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, collected INTEGER NOT NULL);
        CREATE TABLE targets(
            target INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE,
            delivered INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0, last INTEGER);
        CREATE TABLE cursors(
            target INTEGER NOT NULL, route INTEGER NOT NULL, position INTEGER NOT NULL,
            count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, PRIMARY KEY(target, route)) WITHOUT ROWID;
        CREATE TABLE events(
            position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, lane TEXT NOT NULL,
            created INTEGER NOT NULL, payload BLOB NOT NULL);
        CREATE TABLE retries(
            target INTEGER NOT NULL, position INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL,
            PRIMARY KEY(target, position)) WITHOUT ROWID;
        CREATE INDEX retries_by_time ON retries(target, due);
        CREATE INDEX retries_by_position ON retries(position);
        CREATE TABLE dead(
            target INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(target, position)) WITHOUT ROWID;
        CREATE INDEX dead_by_position ON dead(position);
        CREATE TABLE skipped(
            target INTEGER NOT NULL, position INTEGER NOT NULL, PRIMARY KEY(target, position)) WITHOUT ROWID;
        CREATE TABLE attempts(
            target INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
            at INTEGER NOT NULL, until INTEGER NOT NULL, count INTEGER NOT NULL, code TEXT, reason TEXT);
        CREATE INDEX attempts_by_position ON attempts(target, last);
        CREATE TABLE counters(name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO counters VALUES('next', 1);
        """,
        // When the wait for a retry began, and from when on the age of a replayed event counts.
        """
        ALTER TABLE retries ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE retries ADD COLUMN renewed INTEGER;
        """,
        // The number of the next event lies beside the counts that change with it: one page less for each transaction.
        """
        ALTER TABLE routes ADD COLUMN next INTEGER NOT NULL DEFAULT 1;
        UPDATE routes SET next = (SELECT value FROM counters WHERE name = 'next');
        DROP TABLE counters;
        """,
        // Turns number the transactions, so that a reader knows which of them it sees; each is written where its transaction
        // writes anyway. What waits for a retry is counted, so that no step counts it again.
        """
        ALTER TABLE events ADD COLUMN checksum INTEGER;
        ALTER TABLE routes ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN retried_bytes INTEGER NOT NULL DEFAULT 0;
        \(countRetried);
        """,
    ]

    /// Counts what waits for a retry.
    static let countRetried = """
        UPDATE targets SET retried = (SELECT count(*) FROM retries WHERE target = targets.target), retried_bytes = (
            SELECT coalesce(sum(length(payload)), 0) FROM retries JOIN events USING(position)
            WHERE target = targets.target)
        """

    /// Brings a file to the current version.
    ///
    /// - Throws: A failure of code 0 if another version or another application wrote the file, which stays as it is.
    static func migrate(_ database: Database, _ path: String) throws(Database.Failure) {
        try database.run("BEGIN IMMEDIATE")
        do throws(Database.Failure) {
            let found = try check(database, path)
            for step in steps[found...] { try database.run(step) }
            if found < version { try database.run("PRAGMA user_version = \(version)") }
            try database.run("COMMIT")
        } catch {
            try? database.run("ROLLBACK")
            throw error
        }
    }

    /// Compares a file's tables with ours.
    ///
    /// - Returns: The version of the file, 0 for an empty one.
    /// - Throws: A failure of code 0 if another version or another application wrote the file.
    @discardableResult
    static func check(_ database: Database, _ path: String) throws(Database.Failure) -> Int {
        let found = try database.statement("PRAGMA user_version").integer(in: Int64.min...Int64.max) ?? 0
        guard found <= version else {
            throw Database.Failure(
                description: "the outbox was written by a later version (schema \(found); this one knows \(version))",
                advice: "use that version of connector-host, or move \(path) away: this one then begins with a new file"
            )
        }
        guard found >= 0 else {
            throw Database.Failure(
                description: "no version of connector-host writes such a file (schema \(found))",
                advice: "move \(path) away: the host then begins with a new file"
            )
        }
        let (known, there) = (try objects(ofVersion: Int(found)), try objects(in: database))
        guard let name = Set(known.keys).union(there.keys).sorted().first(where: { known[$0] != there[$0] }) else {
            return Int(found)
        }
        let difference =
            there[name] == nil
            ? "\(name) is missing" : known[name] == nil ? "\(name) is not ours" : "\(name) is another"
        throw Database.Failure(
            description: "the file's tables are not those of an outbox: \(difference)",
            advice: "undo what changed \(path), or move it away: the host then begins with a new file"
        )
    }

    /// What a file of a version holds.
    private static func objects(ofVersion version: Int) throws(Database.Failure) -> [String: String] {
        if version == Self.version { return try current.get() }
        let database = try Database(":memory:")
        for step in steps[..<version] { try database.run(step) }
        return try objects(in: database)
    }

    /// What a file of the current version holds.
    private static let current = Result { () throws(Database.Failure) in
        let database = try Database(":memory:")
        for step in steps { try database.run(step) }
        return try objects(in: database)
    }

    /// The definition of each table, index, view and trigger, by its kind and name. Statistics that an operator had SQLite gather
    /// change no result.
    private static func objects(in database: Database) throws(Database.Failure) -> [String: String] {
        var objects: [String: String] = [:]
        try database.statement("SELECT type, name, tbl_name, sql FROM sqlite_master").run { row in
            let name = row.text(1)
            if !name.hasPrefix("sqlite_stat") { objects["\(row.text(0)) \(name)"] = "\(row.text(2)) \(row.text(3))" }
        }
        return objects
    }
}
