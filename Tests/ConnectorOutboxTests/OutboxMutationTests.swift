// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Hostile and damaged files: whatever an outbox's file holds, the store fails with one of our errors or works, and confirms nothing
/// that it then forgets.
@Suite(.timeLimit(.minutes(30))) struct OutboxMutationTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    /// The files of a filled outbox, for a mutant to change.
    private struct Files {
        var file: [UInt8]
        var log: [UInt8]
    }

    private func filled() async throws -> Files {
        try await folder.fill(60)
        // What was written last is only in the log.
        let engine = try await folder.engine()
        _ = try await engine.append((201...230).map { .numbered($0, bytes: 300) }, to: ["b"])
        let files = Files(file: folder.bytes(folder.file), log: folder.bytes(folder.file + "-wal"))
        await engine.close()
        return files
    }

    private func place(_ files: Files) {
        for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        folder.write(files.file, to: folder.file)
        if !files.log.isEmpty { folder.write(files.log, to: folder.file + "-wal") }
    }

    /// Does to the store whatever a host does, and checks that what it confirms can be read afterwards.
    private func use(_ round: Int) async throws {
        var confirmed: Set<String> = []
        for life in 0..<2 {
            let engine: SQLiteEngine
            do throws(ConnectorError) {
                engine = try await folder.engine()
            } catch {
                #expect(error.code == .storage)
                #expect(error.message.hasPrefix("the outbox"))
                #expect(confirmed.isEmpty, "a store that was open opens again")
                return
            }
            _ = try? await engine.version()
            _ = try? await engine.statistics()
            let event = OutboxEvent.numbered(100_000 + round * 10 + life)
            if (try? await engine.append([event], to: ["a", "c"])) != nil { confirmed.insert(event.id) }
            for path in ["a", "b"] {
                let limits = BatchLimits(count: 7)
                guard let batch = try? await engine.batch(for: path, upTo: limits, now: OutboxEvent.start) else {
                    continue
                }
                let outcomes = batch.entries.indices.map { index -> DeliveryOutcome in
                    confirmed.contains(batch.entries[index].id)
                        ? .waiting : [.delivered, .dead, .retry(at: OutboxEvent.start)][index % 3]
                }
                let failures = outcomes.map { $0 == .delivered ? nil : DeliveryFailure(.unavailable, "away") }
                _ = try? await engine.settle(batch, outcomes, Attempt(at: OutboxEvent.start, failures: failures))
            }
            try? await engine.rewind("a", now: OutboxEvent.start)
            _ = try? await engine.replay(RecordSelection(paths: ["a"]))
            _ = try? await engine.dropOldest(300, of: "b")
            _ = try? await engine.drop(RecordSelection(paths: ["b"], limit: 5))
            if let records = try? await engine.records(RecordSelection(paths: ["c"])) {
                #expect(confirmed.subtracting(records.map(\.event.id)).isEmpty, "what was confirmed is there")
            }
            await engine.close()
        }
    }

    @Test func `damaged bytes anywhere in the file or its log end in an error or in service`() async throws {
        let files = try await filled()
        for round in 0..<fuzzRounds {
            var random = SeededGenerator(seed: fuzzSeed &+ UInt64(round))
            var mutant = files
            for _ in 0..<Int.random(in: 1...4, using: &random) { Self.damage(&mutant, &random) }
            place(mutant)
            try await use(round)
        }
    }

    /// Damages one place: the header, the beginning of a page, any byte, a run of bytes, the end, or the log.
    private static func damage(_ files: inout Files, _ random: inout SeededGenerator) {
        let pages = files.file.count / 8192
        let byte = UInt8.random(in: 0...255, using: &random)
        guard pages > 1 else { return }
        switch Int.random(in: 0..<8, using: &random) {
        case 0: files.file[Int.random(in: 0..<100, using: &random)] = byte
        case 1: files.file[100 + Int.random(in: 0..<40, using: &random)] = byte
        case 2, 3:
            let page = Int.random(in: 1..<pages, using: &random)
            files.file[page * 8192 + Int.random(in: 0..<24, using: &random)] = byte
        case 4:
            let start = Int.random(in: 0..<files.file.count - 64, using: &random)
            for index in start..<start + Int.random(in: 1..<64, using: &random) { files.file[index] = byte }
        case 5: files.file.removeLast(Int.random(in: 1..<files.file.count / 2, using: &random))
        case 6:
            // One page in place of another.
            let (from, to) = (Int.random(in: 0..<pages, using: &random), Int.random(in: 0..<pages, using: &random))
            guard from != to else { return }
            files.file.replaceSubrange(to * 8192..<(to + 1) * 8192, with: files.file[from * 8192..<(from + 1) * 8192])
        default:
            guard files.log.count > 32 else { return }
            if Bool.random(using: &random) {
                files.log[Int.random(in: 0..<files.log.count, using: &random)] = byte
            } else {
                files.log.removeLast(Int.random(in: 1..<files.log.count, using: &random))
            }
        }
    }

    @Test func `hostile values, columns, tables and settings end in an error or in service`() async throws {
        let files = try await filled()
        for round in 0..<fuzzRounds {
            var random = SeededGenerator(seed: fuzzSeed &+ UInt64(round) &+ 1_000_000)
            place(files)
            do {
                let database = try Database(folder.file)
                for _ in 0..<Int.random(in: 1...3, using: &random) { try? database.run(Self.change(&random)) }
            }
            try await use(round)
        }
    }

    /// Tables with their columns.
    private static let tables = [
        "routes": ["route", "targets", "count", "bytes", "collected", "next", "turn"],
        "targets": ["target", "path", "delivered", "dropped", "last", "turn", "retried", "retried_bytes"],
        "cursors": ["target", "route", "position", "count", "bytes"],
        "events": ["position", "id", "lane", "created", "payload", "checksum"],
        "retries": ["target", "position", "due", "attempts", "since", "renewed"],
        "dead": ["target", "position"], "skipped": ["target", "position"],
        "attempts": ["target", "first", "last", "at", "until", "count", "code", "reason"],
    ]

    private static let values = [
        "9223372036854775807", "-9223372036854775808", "-1", "0", "1", "1 << 40", "(1 << 62) | 5", "2147483648",
        "'text'", "''", "x''", "x'00FF'", "NULL", "1e300", "-0.5", "zeroblob(100000)", "'[]'", "'[\"a\",7,null]'",
    ]

    private static let objects = [
        """
        CREATE TRIGGER t AFTER INSERT ON events BEGIN
        WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x FROM c) SELECT count(*) FROM c; END
        """,
        "CREATE TRIGGER t BEFORE UPDATE ON routes BEGIN SELECT raise(IGNORE); END",
        "CREATE VIEW v AS SELECT * FROM events", "CREATE TABLE other(a)", "CREATE UNIQUE INDEX i ON events(created)",
        "CREATE INDEX i ON events(lower(id))", "DROP INDEX dead_by_position", "DROP TABLE retries",
        "DROP TABLE events; CREATE VIEW events AS SELECT 1 AS position", "ALTER TABLE routes RENAME TO ways",
        "ALTER TABLE dead ADD COLUMN more", "CREATE VIRTUAL TABLE f USING fts5(a)", "ANALYZE",
        "CREATE TABLE strange(a CHECK(a > 1), b GENERATED ALWAYS AS (a * 2))",
    ]

    private static let settings = [
        "PRAGMA user_version = -1", "PRAGMA user_version = 0", "PRAGMA user_version = 1", "PRAGMA user_version = 3",
        "PRAGMA user_version = 2147483647", "PRAGMA application_id = 7", "PRAGMA journal_mode = DELETE",
        "PRAGMA auto_vacuum = 1; VACUUM", "PRAGMA page_size = 512; PRAGMA journal_mode = DELETE; VACUUM",
        "PRAGMA encoding = 'UTF-16'",
    ]

    private static func change(_ random: inout SeededGenerator) -> String {
        switch Int.random(in: 0..<10, using: &random) {
        case 0: return settings.randomElement(using: &random) ?? ""
        case 1: return objects.randomElement(using: &random) ?? ""
        default:
            let table = tables.keys.sorted().randomElement(using: &random) ?? "events"
            let column = tables[table]?.randomElement(using: &random) ?? "position"
            let value = values.randomElement(using: &random) ?? "0"
            return "UPDATE OR REPLACE \(table) SET \(column) = \(value)"
        }
    }
}
