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
    static let version: Int64 = 3

    /// The bits of a position that number the event.
    static let sequenceBits: Int64 = 40

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
    ]

    /// Brings a file to the current version.
    ///
    /// - Throws: A failure of code 0 if the file was written by a later version.
    static func migrate(_ database: Database) throws(Database.Failure) {
        try database.run("BEGIN IMMEDIATE")
        do throws(Database.Failure) {
            let found = try database.statement("PRAGMA user_version").integer() ?? 0
            guard found <= version else {
                throw Database.Failure(
                    code: 0,
                    description:
                        "the outbox was written by a later version (schema \(found); this one knows \(version))"
                )
            }
            for step in steps[Int(found)...] { try database.run(step) }
            if found < version { try database.run("PRAGMA user_version = \(version)") }
            try database.run("COMMIT")
        } catch {
            try? database.run("ROLLBACK")
            throw error
        }
    }
}
