// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// Readers and writers of one file do not wait for each other.
@Suite(.timeLimit(.minutes(5))) struct ReaderTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    @Test func `a process that holds the file for writing keeps nobody from reading`() async throws {
        try await folder.fill()
        let engine = try await folder.engine()
        let other = try Database(folder.file)
        try other.run("BEGIN IMMEDIATE")
        _ = try await engine.version()
        #expect(try await engine.statistics()["a"]?.queued == 24 + 1)
        #expect(try await engine.records(RecordSelection(states: [.dead])).count == 2)
        let batch = try await engine.batch(for: "b", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.count == 20)
        try other.run("ROLLBACK")
        await engine.close()
    }

    @Test func `reading takes no lock that keeps another process from writing`() async throws {
        try await folder.fill()
        let (engine, other) = (try await folder.engine(), try await folder.engine())
        _ = try await engine.records(RecordSelection())
        let before = try await engine.version()
        for number in 1...50 { _ = try await other.append([.numbered(number + 5000)], to: ["a"]) }
        #expect(try await engine.version() != before)
        #expect(try await engine.statistics()["a"]?.queued == 75)
        await other.close()
        await engine.close()
    }

    @Test func `what this process writes does not count as another's change`() async throws {
        let (engine, other) = (try await folder.engine(), try await folder.engine())
        var last = try await engine.version()
        for round in 1...20 {
            _ = try await engine.append([.numbered(round)], to: round % 2 == 0 ? ["a"] : ["a", "b"])
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 1), now: OutboxEvent.start)
            try await engine.settle(batch, [.delivered], Attempt(at: OutboxEvent.start, failures: [nil]))
            #expect(try await engine.version() == last)
            _ = try await other.append([.numbered(1000 + round)], to: ["a"])
            _ = try await engine.append([.numbered(2000 + round)], to: ["b"])
            let now = try await engine.version()
            #expect(now != last, "also when this process has written since")
            last = now
        }
        await other.close()
        await engine.close()
    }
}
