// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite

/// The tables of an outbox, and their migration from older versions.
///
/// A *route* is a set of connectors that receive the same events. An event's position is its route's number, shifted by 40
/// bits, plus its sequence number, which increases across all routes. So the events of a route are adjacent in order of
/// arrival, storing an event is one insertion however many connectors receive it, and the progress of a connector is one
/// position for each route: the cursor. Every event up to a cursor is delivered or dropped, except those in `retries` and
/// `dead`; events in `skipped` were dropped, whether they are beyond it or not.
enum Schema {
    /// The version that this code reads and writes.
    static let version: Int64 = 4

    /// The number of bits for the sequence number in a position.
    static let sequenceBits: Int64 = 40
    /// The range of a route's number: the position after the last route must still fit into 64 bits.
    static let routes: ClosedRange<Int64> = 1...(1 << 22)
    /// The range of an event's sequence number.
    static let sequences: ClosedRange<Int64> = 1...((1 << sequenceBits) - 1)
    /// The range of a count, a size or a connector's number, whose sums cannot overflow.
    static let counts: ClosedRange<Int64> = 0...(1 << 48)
    /// The range of a time, in nanoseconds.
    static let times: ClosedRange<Int64> = 0...Int64.max
    /// The route of a position.
    static func route(of position: Int64) -> Int64 { position >> sequenceBits }
    /// The sequence number of a position.
    static func sequence(of position: Int64) -> Int64 { position & sequences.upperBound }
    /// The positions of a route, including its start, at which no event is stored.
    static func positions(of route: Int64) -> ClosedRange<Int64> {
        let start = min(max(route, 0), routes.upperBound) << sequenceBits
        return start...(start + sequences.upperBound)
    }
    /// The positions of all routes.
    static let positions = positions(of: routes.lowerBound).lowerBound...positions(of: routes.upperBound).upperBound

    /// The migration from each version to the next, starting with an empty file.
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
        // The start of the wait for a retry, and the time from which the age of a replayed event counts.
        """
        ALTER TABLE retries ADD COLUMN since INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE retries ADD COLUMN renewed INTEGER;
        """,
        // The next sequence number is stored beside the counts that change with it: each transaction writes one page less.
        """
        ALTER TABLE routes ADD COLUMN next INTEGER NOT NULL DEFAULT 1;
        UPDATE routes SET next = (SELECT value FROM counters WHERE name = 'next');
        DROP TABLE counters;
        """,
        // The column `turn` holds a transaction's revision, which tells a reader the transactions it sees. It is in a row that the
        // transaction changes anyway. Events waiting for a retry are counted in `targets`, so that no step counts them again.
        """
        ALTER TABLE events ADD COLUMN checksum INTEGER;
        ALTER TABLE routes ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN retried INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE targets ADD COLUMN retried_bytes INTEGER NOT NULL DEFAULT 0;
        \(countRetried);
        """,
    ]

    /// Counts the events waiting for a retry.
    static let countRetried = """
        UPDATE targets SET retried = (SELECT count(*) FROM retries WHERE target = targets.target), retried_bytes = (
            SELECT coalesce(sum(length(payload)), 0) FROM retries JOIN events USING(position)
            WHERE target = targets.target)
        """

    /// Migrates a file to the current version.
    ///
    /// - Throws: A failure of code 0 if a later version or another application wrote the file, which is not changed.
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

    /// Compares a file's tables with those of its version.
    ///
    /// - Returns: The version of the file; 0 for an empty one.
    /// - Throws: A failure of code 0 if a later version or another application wrote the file; a damage failure if one byte of a
    ///   definition is another one.
    @discardableResult
    static func check(_ database: Database, _ path: String) throws(Database.Failure) -> Int {
        let found = try database.statement("PRAGMA user_version").integer(in: Int64.min...Int64.max) ?? 0
        guard found <= version else {
            throw Database.Failure(
                description:
                    "the outbox was written by a later version (schema \(found); this one supports \(version))",
                advice: "use that version of connector-host, or move \(path) away to start with a new file"
            )
        }
        guard found >= 0 else {
            throw Database.Failure(
                description: "the file is not an outbox (schema \(found))",
                advice: "move \(path) away to start with a new file"
            )
        }
        let (expected, actual) = (try objects(ofVersion: Int(found)), try objects(in: database))
        guard let name = Set(expected.keys).union(actual.keys).sorted().first(where: { expected[$0] != actual[$0] })
        else {
            return Int(found)
        }
        if Self.isDamage(expected, actual) {
            throw .damaged("the definition of its tables differs in one byte: \(name)")
        }
        let difference =
            actual[name] == nil
            ? "\(name) is missing" : expected[name] == nil ? "\(name) is unexpected" : "\(name) is different"
        throw Database.Failure(
            description: "the file's tables are not those of an outbox: \(difference)",
            advice: "undo the changes to \(path), or move it away to start with a new file"
        )
    }

    /// Whether the only difference is one byte of one definition or name, which no one changes on purpose.
    private static func isDamage(_ expected: [String: String], _ actual: [String: String]) -> Bool {
        let lost = expected.filter { actual[$0.key] != $0.value }
        let found = actual.filter { expected[$0.key] != $0.value }
        guard let (name, text) = lost.first, let (otherName, otherText) = found.first, lost.count == 1, found.count == 1
        else { return false }
        // A byte that is no longer UTF-8 is one scalar, too.
        let scalars = Array("\(name) \(text)".unicodeScalars)
        let others = Array("\(otherName) \(otherText)".unicodeScalars)
        return scalars.count == others.count && zip(scalars, others).count { $0 != $1 } == 1
    }

    /// The definitions in a file of a version.
    private static func objects(ofVersion version: Int) throws(Database.Failure) -> [String: String] {
        if version == Self.version { return try current.get() }
        let database = try Database(":memory:")
        for step in steps[..<version] { try database.run(step) }
        return try objects(in: database)
    }

    /// The definitions in a file of the current version.
    private static let current = Result { () throws(Database.Failure) in
        let database = try Database(":memory:")
        for step in steps { try database.run(step) }
        return try objects(in: database)
    }

    /// The definition of each table, index, view and trigger, by its kind and name. Tables of SQLite's statistics are ignored,
    /// since they change no result.
    private static func objects(in database: Database) throws(Database.Failure) -> [String: String] {
        var objects: [String: String] = [:]
        do throws(Database.Failure) {
            try database.statement("SELECT type, name, tbl_name, sql FROM sqlite_master").run { row in
                let name = row.text(1)
                if !name.hasPrefix("sqlite_stat") {
                    objects["\(row.text(0)) \(name)"] = "\(row.text(2)) \(row.text(3))"
                }
            }
        } catch {
            // Nothing is wrong with the statement, so it is the header, such as a format that no version of SQLite has.
            guard error.code == SQLITE_ERROR else { throw error }
            throw .damaged("its tables cannot be read (\(error.cause ?? "no reason"))")
        }
        return objects
    }
}
