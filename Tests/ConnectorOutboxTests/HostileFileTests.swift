// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that somebody else has written, by malice or by mistake, leads to one of our errors or to service: never to a trap, to an
/// endless wait, or to the loss of what can be read.
@Suite(.timeLimit(.minutes(5))) struct HostileFileTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// Changes the file of a filled outbox without the engine.
    private func alter(_ statements: String) async throws {
        try await folder.fill()
        let database = try Database(folder.file)
        try database.run(statements)
    }

    /// Opens the outbox, and does to it whatever a host does.
    private func use() async throws(ConnectorError) {
        let engine = try await folder.engine()
        do throws(ConnectorError) {
            _ = try await engine.read()
            for path in ["a", "b", "c"] {
                let batch = try await engine.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start)
                try await engine.settle(
                    batch,
                    batch.entries.map { _ in .delivered },
                    Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in nil })
                )
            }
            try await engine.rewind("a", now: OutboxEvent.start)
            _ = try await engine.append([.numbered(5001)], to: ["a", "b"])
            _ = try await engine.append([.numbered(5002)], to: ["c", "b"])
            _ = try await engine.records(RecordSelection())
            _ = try await engine.replay(RecordSelection())
            _ = try await engine.dropOldest(500, of: "b")
            _ = try await engine.drop(RecordSelection())
        } catch {
            await engine.close()
            throw error
        }
        await engine.close()
    }

    @Test(arguments: [-1, -2_147_483_648, 5, 77, 2_147_483_647])
    func `a file of a version that never existed is an error`(version: Int) async throws {
        try await alter("PRAGMA user_version = \(version)")
        let error = await #expect(throws: ConnectorError.self) { try await use() }
        #expect(error?.code == .storage)
        #expect(error?.message.contains("schema \(version)") == true)
        #expect(error?.fix != nil)
        #expect(folder.names.filter { $0.contains("damaged") }.isEmpty, "nothing is set aside")
    }

    /// Columns that hold numbers.
    private static let columns = [
        "routes.route", "routes.count", "routes.bytes", "routes.collected", "routes.next", "targets.target",
        "targets.delivered", "targets.dropped", "targets.last", "cursors.target", "cursors.route", "cursors.position",
        "cursors.count", "cursors.bytes", "events.position", "events.created", "retries.target", "retries.position",
        "retries.due", "retries.attempts", "retries.since", "retries.renewed", "dead.target", "dead.position",
        "skipped.target", "skipped.position", "attempts.target", "attempts.first", "attempts.last", "attempts.at",
        "attempts.until", "attempts.count",
    ]

    @Test(arguments: columns)
    func `an absurd number never traps`(column: String) async throws {
        let parts = column.split(separator: ".")
        try await folder.fill()
        let filled = folder.bytes(folder.file)
        for value in ["9223372036854775807", "-9223372036854775808", "-1", "'text'", "x'00'", "1e300", "1 << 40"] {
            let folder = try Folder()
            folder.write(filled, to: folder.file)
            let database = try Database(folder.file)
            try? database.run("UPDATE OR IGNORE \(parts[0]) SET \(parts[1]) = \(value)")
            do throws(ConnectorError) {
                try await HostileFileTests(folder).use()
            } catch {
                #expect(error.code == .storage)
            }
        }
    }

    @Test func `the sum of many routes' counts is bounded like a single count`() async throws {
        try await folder.fill()
        let engine = try await folder.engine()
        // While the outbox is open: opening a file compares its counts.
        try Database(folder.file).run(
            """
            WITH RECURSIVE numbers(n) AS (SELECT 1001 UNION ALL SELECT n + 1 FROM numbers WHERE n < 41000)
            INSERT INTO routes(route, targets, count, bytes, collected) SELECT n, n, 1 << 48, 1 << 48, n << 40 FROM numbers;
            INSERT INTO cursors(target, route, position)
            SELECT target, route, route << 40 FROM routes JOIN targets WHERE path = 'a' AND route > 1000
            """
        )
        let queue = try #require(try await engine.statistics()["a"])
        #expect(queue.queued == 1 << 48 && queue.bytes == 1 << 48)
        let bound = ["a": QueueBound(bytes: 1000, whenFull: .dropNewest)]
        #expect(try await engine.append([.numbered(5001)], to: ["a"], within: bound, { _ in })?.paths == [])
        await engine.close()
    }

    private init(_ folder: Folder) {
        self.folder = folder
    }

    @Test(arguments: [
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c; END",
        "CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM events; END",
        "CREATE VIEW v AS SELECT 1", "CREATE TABLE other(a)", "CREATE INDEX i ON events(created)",
        "CREATE UNIQUE INDEX i ON events(id, lane)", "DROP TABLE skipped", "DROP INDEX retries_by_time",
        "ALTER TABLE events RENAME COLUMN lane TO road", "ALTER TABLE events ADD COLUMN more",
        "DROP TABLE attempts; CREATE VIEW attempts AS WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x AS target FROM c",
    ])
    func `a file whose tables are not ours is refused, and stays as it is`(_ change: String) async throws {
        try await alter(change)
        let error = await #expect(throws: ConnectorError.self) { try await use() }
        #expect(error?.code == .storage)
        #expect(error?.message.contains("tables") == true)
        #expect(error?.fix?.contains(folder.file) == true)
        #expect(folder.names.contains("outbox.sqlite"))
        #expect(folder.names.filter { $0.contains("damaged") }.isEmpty)
    }

    @Test(
        arguments: ["outbox.sqlite", "outbox.sqlite-wal", "outbox.sqlite-shm"],
        ["fifo", "directory", "socket", "link"]
    )
    func `a path that is not a regular file is refused at once, with what it is`(name: String, kind: String)
        async throws
    {
        if name != "outbox.sqlite" { try await folder.fill() }
        let path = "\(folder.path)/\(name)"
        unsafe unlink(path)
        let word: String
        switch kind {
        case "fifo":
            #expect(unsafe mkfifo(path, 0o600) == 0)
            word = "a named pipe"
        case "directory":
            #expect(unsafe mkdir(path, 0o700) == 0)
            word = "a directory"
        case "link":
            #expect(unsafe symlink("/dev/null", path) == 0)
            word = "a symbolic link"
        default:
            #expect(unsafe mknod(path, S_IFSOCK | 0o600, 0) == 0)
            word = "a socket"
        }
        defer { unsafe rmdir(path) }
        let error = await #expect(throws: ConnectorError.self) { try await use() }
        #expect(error?.code == .storage)
        #expect(error?.message.contains(word) == true, "\(error?.message ?? "no error")")
        #expect(error?.fix?.contains(path) == true)
    }
}
