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

/// What the file promises beyond what every engine does.
@Suite(.timeLimit(.minutes(5))) struct SQLiteEngineTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func engine() async throws(ConnectorError) -> SQLiteEngine {
        try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { _, _ in }
    }

    @Test func `the next process finds everything, in a directory of the user alone`() async throws {
        let directory = folder.path + "/state"
        defer {
            for name in ["outbox.sqlite", "outbox.sqlite-wal", "outbox.sqlite-shm", "lock"] {
                unsafe unlink("\(directory)/\(name)")
            }
            unsafe rmdir(directory)
        }
        let first = try await SQLiteEngine(directory: directory, now: { OutboxEvent.start }) { _, _ in }
        _ = try await first.append([.numbered(1), .numbered(2)], to: ["a"])
        await first.close()
        var status = stat()
        #expect(unsafe lstat(directory, &status) == 0 && status.st_mode & 0o777 == 0o700)
        let second = try await SQLiteEngine(directory: directory, now: { OutboxEvent.start }) { _, _ in }
        let batch = try await second.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.events == [.numbered(1), .numbered(2)])
        await second.close()
    }

    @Test func `two processes may add events, and each sees what the other did`() async throws {
        let (first, second) = (try await engine(), try await engine())
        let before = try await first.version()
        _ = try await second.append([.numbered(1)], to: ["a"])
        #expect(try await first.version() != before)
        _ = try await first.append([.numbered(2)], to: ["a", "b"])
        _ = try await second.append([.numbered(3)], to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.id) == ["event-1", "event-2", "event-3"])
        await first.close()
        await second.close()
    }

    @Test func `a path that another process has given up names a new connector`() async throws {
        let (first, second) = (try await engine(), try await engine())
        _ = try await second.append([.numbered(1)], to: ["a"])
        #expect(try await first.reassign("a", to: "b"))
        _ = try await second.append([.numbered(2)], to: ["a"])
        for (path, id) in [("b", "event-1"), ("a", "event-2")] {
            let batch = try await first.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.id) == [id])
        }
        await first.close()
        await second.close()
    }

    @Test func `events that make room while the vendor takes them count as delivered, with their attempt`() async throws
    {
        let engine = try await engine()
        _ = try await engine.append((1...3).map { .numbered($0, bytes: 100) }, to: ["a"])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 2), now: OutboxEvent.start)
        #expect(try await engine.dropOldest(200, of: "a") == ["event-1", "event-2"])
        let step = try await engine.settle(
            batch,
            [.delivered, .dead],
            Attempt(at: OutboxEvent.start, failures: [nil, DeliveryFailure(.invalid, "no")])
        )
        #expect(step.isApplied == [false, false] && step.restored == 1)
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.delivered, queue.dropped) == (1, 1, 1))
        let records = try await engine.records(RecordSelection(ids: ["event-1", "event-2"]))
        #expect(records.map(\.state) == [.delivered, .dropped])
        #expect(records.map(\.attempts.count) == [1, 0])
        await engine.close()
    }

    @Test func `dead letters that were replayed since they were listed are not dropped`() throws {
        let tables = try OutboxTables(":memory:")
        var (dropped, waiting) = (0, 0)
        try tables.transaction(isStable: false) { tables throws(Database.Failure) in
            _ = try tables.append([.numbered(1), .numbered(2)], to: ["a"])
            try tables.flushCounters()
            let batch = try tables.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            let failure = DeliveryFailure(.invalid, "no")
            let attempt = Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in failure })
            _ = try tables.settle(batch, batch.entries.map { _ in .dead }, attempt)
            let letters = try tables.references(RecordSelection(states: [.dead]))
            _ = try tables.replay(letters.prefix(1), now: OutboxEvent.start)
            dropped = try tables.drop(letters[...], in: [.dead])
            waiting = try tables.statistics()["a"]?.queued ?? 0
        }
        #expect((dropped, waiting) == (1, 1))
    }

    @Test func `one host at a time delivers, whatever its process`() throws {
        var lock: DeliveryLock? = try DeliveryLock(folder.path)
        let error = #expect(throws: ConnectorError.self) { try DeliveryLock(folder.path) }
        #expect(error?.code == .conflict)
        #expect(error?.message.hasPrefix("another host, in this process or another one, delivers") == true)
        #expect(lock != nil)
        lock = nil
        _ = try DeliveryLock(folder.path)
    }

    @Test func `a process that looks whether events are delivered keeps none from delivering them`() async throws {
        let path = folder.path
        _ = try DeliveryLock(path)
        let look = Task {
            while !Task.isCancelled {
                for _ in 1...100 { _ = DeliveryLock.isHeld(path) }
                await Task.yield()
            }
        }
        defer { look.cancel() }
        for _ in 1...500 {
            _ = try DeliveryLock(path)
            await Task.yield()
        }
        let lock = try DeliveryLock(path)
        #expect(DeliveryLock.isHeld(path))
        withExtendedLifetime(lock) {}
    }

    @Test func `a damaged file is set aside, and a new one begun`() async throws {
        let path = "\(folder.path)/outbox.sqlite"
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        let text = Array(String(repeating: "this is no database ", count: 1000).utf8)
        #expect(unsafe write(descriptor, text, text.count) == text.count)
        close(descriptor)
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        #expect(folder.names.contains { $0.hasPrefix("outbox.sqlite.damaged-") })
        await engine.close()
    }

    @Test func `a file whose damage shows only when it is used is set aside, and new events are stored`() async throws {
        let engine = try await engine()
        for number in 1...500 { _ = try await engine.append([.numbered(number, bytes: 500)], to: ["a"]) }
        await engine.close()
        let path = "\(folder.path)/outbox.sqlite"
        let descriptor = unsafe open(path, O_WRONLY)
        let noise = [UInt8](repeating: 0xA5, count: 4096)
        // Every page but the first: the file opens, and turns out to be damaged when it is used.
        for page in 1..<40 {
            unsafe noise.withUnsafeBytes { _ = unsafe pwrite(descriptor, $0.baseAddress, 4096, off_t(page * 4096)) }
        }
        close(descriptor)
        let second = try await self.engine()
        #expect(try await second.append([.numbered(1001)], to: ["a"]).isApplied == [true])
        let batch = try await second.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.id) == ["event-1001"])
        #expect(folder.names.contains { $0.hasPrefix("outbox.sqlite.damaged-") })
        await second.close()
    }

    @Test func `a directory that others can enter is refused, with the remedy`() async throws {
        unsafe chmod(folder.path, 0o755)
        let error = await #expect(throws: ConnectorError.self) { try await engine() }
        #expect(error?.code == .storage)
        #expect(error?.fix == "run: chmod 700 \(folder.path)")
    }

    @Test func `a file of a later version is refused, and stays as it is`() async throws {
        let database = try Database("\(folder.path)/outbox.sqlite")
        try database.run("PRAGMA user_version = 99")
        let error = await #expect(throws: ConnectorError.self) { try await engine() }
        #expect(error?.message.contains("later version") == true)
        #expect(try database.statement("PRAGMA user_version").integer() == 99)
    }

    @Test func `a full disk is an error, and no event is stored in part`() async throws {
        let engine = try await engine()
        try await engine.limit(pages: 20)
        var stored = 0
        var failure: ConnectorError?
        for number in 1...1000 where failure == nil {
            do throws(ConnectorError) {
                _ = try await engine.append([.numbered(number, bytes: 1000)], to: ["a"])
                stored += 1
            } catch {
                failure = error
            }
        }
        #expect(failure?.code == .storage)
        #expect(failure?.fix?.contains("free space") == true)
        #expect(try await engine.statistics()["a"]?.queued == stored)
        try await engine.limit(pages: 10_000)
        _ = try await engine.append([.numbered(2000)], to: ["a"])
        #expect(try await engine.statistics()["a"]?.queued == stored + 1)
        await engine.close()
    }

    @Test(arguments: [false, true])
    func `a batch reads no more events than it has room for`(isRetried: Bool) async throws {
        /// The steps to read a batch of two of some events.
        func cost(_ count: Int) async throws -> Int {
            let engine = try await SQLiteEngine(now: { OutboxEvent.start })
            _ = try await engine.append((1...count).map { .numbered($0, bytes: 100) }, to: ["a"])
            if isRetried {
                let all = try await engine.batch(for: "a", upTo: BatchLimits(count: count), now: OutboxEvent.start)
                let failures = all.entries.map { _ in DeliveryFailure?.some(DeliveryFailure(.unavailable, "away")) }
                let attempt = Attempt(at: OutboxEvent.start, failures: failures)
                try await engine.settle(all, all.entries.map { _ in .retry(at: OutboxEvent.start) }, attempt)
            }
            let before = try await engine.steps()
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(bytes: 250), now: OutboxEvent.start)
            #expect(batch.entries.count == 2 && batch.isFull)
            let steps = try await engine.steps() - before
            await engine.close()
            return steps
        }
        let (few, many) = (try await cost(3), try await cost(1000))
        #expect(many < few + few / 5, "\(few) steps for a batch of 3 events, \(many) for one of 1,000")
    }

    @Test func `reading the attempts at many events costs hardly more than reading those at one`() async throws {
        let engine = try await SQLiteEngine(now: { OutboxEvent.start })
        _ = try await engine.append((1...2000).map { .numbered($0) }, to: ["a", "b"])
        for path in ["a", "b"] {
            let batch = try await engine.batch(for: path, upTo: BatchLimits(count: 2000), now: OutboxEvent.start)
            // The attempts at the first events are one row, those at the others one each.
            let failures = batch.entries.indices.map { index in
                DeliveryFailure?.some(DeliveryFailure(.invalid, index < 3 ? "no" : "no: \(index)"))
            }
            let attempt = Attempt(at: OutboxEvent.start, failures: failures)
            try await engine.settle(batch, batch.entries.map { _ in .dead }, attempt)
        }
        func read(_ limit: Int) async throws -> (records: [OutboxRecord], steps: Int) {
            let before = try await engine.steps()
            let records = try await engine.records(RecordSelection(states: [.dead], limit: limit))
            return (records, try await engine.steps() - before)
        }
        let (one, many) = (try await read(1), try await read(200))
        #expect(many.steps < one.steps * 2, "\(one.steps) steps for one event, \(many.steps) for 200")
        #expect(many.records.allSatisfy { $0.attempts.count == 1 })
        let reasons = many.records.compactMap(\.attempts.first?.failure?.reason)
        #expect(reasons == (0..<100).flatMap { index in Array(repeating: index < 3 ? "no" : "no: \(index)", count: 2) })
        await engine.close()
    }

    @Test func `several processes may create the file at the same time`() async throws {
        for _ in 0..<20 {
            let folder = try Folder()
            await withTaskGroup { group in
                for number in 0..<8 {
                    group.addTask {
                        do {
                            let engine = try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) {
                                _,
                                _ in
                            }
                            _ = try await engine.append([.numbered(number)], to: ["a"])
                            await engine.close()
                        } catch {
                            Issue.record(error)
                        }
                    }
                }
            }
            let engine = try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { _, _ in }
            #expect(try await engine.statistics()["a"]?.queued == 8)
            await engine.close()
        }
    }
}
