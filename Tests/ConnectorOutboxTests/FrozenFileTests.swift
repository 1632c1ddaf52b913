// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// Files of version 3, the last one without checksums, keep working with everything that they hold.
@Suite(.timeLimit(.minutes(5))) struct FrozenFileTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// What version 3 wrote, letter for letter: it is never changed.
    private static let tables = """
        CREATE TABLE routes(
            route INTEGER PRIMARY KEY, targets TEXT NOT NULL UNIQUE,
            count INTEGER NOT NULL DEFAULT 0, bytes INTEGER NOT NULL DEFAULT 0, collected INTEGER NOT NULL, next INTEGER NOT NULL DEFAULT 1);
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
            target INTEGER NOT NULL, position INTEGER NOT NULL, due INTEGER NOT NULL, attempts INTEGER NOT NULL, since INTEGER NOT NULL DEFAULT 0, renewed INTEGER,
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
        """

    /// An outbox of version 3: of five events one is delivered, one is retried, one is dead, one was dropped and one waits.
    private static let rows = """
        INSERT INTO routes VALUES(1, '["a"]', 5, 10, 1 << 40, 6);
        INSERT INTO targets VALUES(1, 'a', 1, 1, 1767225600000000000);
        INSERT INTO cursors VALUES(1, 1, 1 << 40 | 4, 4, 8);
        INSERT INTO events SELECT 1 << 40 | value, 'event-' || value, 'analytics/1 track', 1767225600000000000, '{}'
            FROM json_each('[1,2,3,4,5]');
        INSERT INTO retries VALUES(1, 1 << 40 | 2, 0, 3, 0, NULL);
        INSERT INTO dead VALUES(1, 1 << 40 | 3);
        INSERT INTO skipped VALUES(1, 1 << 40 | 4);
        INSERT INTO attempts VALUES(1, 1 << 40 | 1, 1 << 40 | 1, 0, 0, 1, NULL, NULL),
            (1, 1 << 40 | 2, 1 << 40 | 2, 0, 0, 3, 'unavailable', 'away'),
            (1, 1 << 40 | 3, 1 << 40 | 3, 0, 0, 1, 'invalid', 'no');
        PRAGMA user_version = 3;
        """

    @Test func `a file of version 3 keeps working with everything that it holds`() async throws {
        do {
            let database = try Database(folder.file)
            try database.run("PRAGMA journal_mode = WAL; \(Self.tables) \(Self.rows)")
        }
        let engine = try await folder.engine { _, reason in Issue.record("the file was set aside: \(reason)") }
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.dead, queue.delivered) == (2, 4, 1, 1))
        _ = try await engine.append([.numbered(6)], to: ["a"])
        let states = try await engine.records(RecordSelection()).map {
            "\($0.event.id) \($0.state) \($0.attempts.count)"
        }
        #expect(
            states == [
                "event-1 delivered 1", "event-2 queued 1", "event-3 dead 1", "event-4 dropped 0", "event-5 queued 0",
                "event-6 queued 0",
            ]
        )
        let retried = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(retried.entries.map(\.id) == ["event-2"])
        let attempt = Attempt(at: OutboxEvent.start, failures: [nil])
        try await engine.settle(retried, [.delivered], attempt)
        let fresh = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(fresh.entries.map(\.id) == ["event-5", "event-6"])
        #expect(fresh.damage == nil, "what has no checksum is delivered")
        await engine.close()
        #expect(try Database(folder.file).statement("PRAGMA user_version").integer() == 4)
    }

    /// On macOS a synchronized write may stay in the disk's cache unless the disk is told to write it: fcntl(2), F_FULLFSYNC.
    @Test(arguments: ["fullfsync", "checkpoint_fullfsync"])
    func `a database has the settings for full synchronization on`(setting: String) throws {
        #expect(try Database(":memory:").statement("PRAGMA \(setting)").integer() == 1)
    }

    @Test func `an endless statement is interrupted when its time is up, and when the store closes`() throws {
        let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
        let over = StatementWatch(limit: 0)
        let first = try Database(":memory:", watch: over)
        over.begin()
        let error = #expect(throws: Database.Failure.self) { try first.run(endless) }
        #expect(error?.description.contains("took too long") == true)
        // Each reading of the time is an hour after the one before.
        let time = Ticks()
        let closing = StatementWatch(limit: .max) { time.next() }
        let second = try Database(":memory:", watch: closing)
        closing.begin()
        closing.close()
        #expect(throws: Database.Failure.self) { try second.run(endless) }
    }
}

/// A time that advances by an hour with each reading.
private final class Ticks: Sendable {
    private let hours = Atomic<UInt64>(0)

    func next() -> UInt64 { hours.wrappingAdd(1, ordering: .relaxed).newValue * 3_600_000_000_000 }
}
