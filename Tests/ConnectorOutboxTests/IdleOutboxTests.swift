// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// An outbox in which nothing is stored for a while, and which can no longer be used.
@Suite(.timeLimit(.minutes(3))) struct IdleOutboxTests {
    /// Moves the clock from look to look until something is true.
    private func look(_ bench: Bench, until isTrue: () -> Bool) async throws {
        while !isTrue() {
            if bench.clock.timerCount > 0 { bench.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
    }

    @Test func `a file is tried out with the first check, and then after half a minute without events`() async throws {
        let folder = try Folder()
        let engine = try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { _, _ in }
        /// How many checks pass until one tries out the file.
        func passing() async throws -> Int {
            var count = 0
            while true {
                try await engine.check([])
                if engine.idleChecks.load(ordering: .relaxed) == 0 { return count }
                count += 1
            }
        }
        #expect(try await passing() == 0)
        #expect(try await passing() == 30)
        for _ in 1...20 { try await engine.check([]) }
        _ = try await engine.append([.numbered(1)], to: ["a"])
        #expect(try await passing() == 30, "an event has shown that events can be stored")
        await engine.close()
    }

    @Test func `an idle outbox notices that its file takes no events, and that it takes them again`() async throws {
        let folder = try Folder()
        let bench = Bench(folder: folder)
        try await bench.outbox.start(isStored: true)
        #expect(bench.outbox.fault == nil)
        let other = try Database("\(folder.path)/\(SQLiteEngine.fileName)")
        try other.run("ALTER TABLE events RENAME TO elsewhere")
        try await look(bench) { bench.outbox.fault != nil }
        #expect(bench.outbox.fault?.code == .storage)
        try other.run("ALTER TABLE elsewhere RENAME TO events")
        try await look(bench) { bench.outbox.fault == nil }
        await bench.outbox.close()
    }

    @Test func `an outbox that no event has opened notices that it cannot be, and that it can`() async throws {
        let isMended = OneShot<Void>()
        let bench = Bench(engine: { () async throws(ConnectorError) -> any OutboxEngine in
            guard isMended.value != nil else { throw ConnectorError(.storage, "the disk is gone") }
            return try await SQLiteEngine(now: { OutboxEvent.start })
        })
        try await bench.outbox.start(isStored: false)
        #expect(bench.clock.timerCount == 0)
        bench.outbox.watch()
        try await look(bench) { bench.outbox.fault != nil }
        #expect(bench.outbox.fault?.message == "the disk is gone")
        isMended.send(())
        try await look(bench) { bench.outbox.fault == nil }
        #expect(bench.outbox.isOpen)
        await bench.outbox.close()
    }
}
