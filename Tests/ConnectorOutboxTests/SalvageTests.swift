// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What can still be read of a damaged file is delivered from a new one.
@Suite(.timeLimit(.minutes(5))) struct SalvageTests {
    private let folder: Folder
    private let aside = Aside()

    init() throws {
        folder = try Folder()
    }

    private func engine() async throws(ConnectorError) -> SQLiteEngine {
        try await folder.engine { [aside] in aside.add($0, $1) }
    }

    /// Stores 400 events one by one, and brings them into the file itself.
    private func store() async throws {
        let engine = try await engine()
        for number in 1...400 { _ = try await engine.append([.numbered(number, bytes: 300)], to: ["a"]) }
        await engine.close()
    }

    /// The number of the first page of a table or index.
    private func rootPage(of name: String) throws -> Int64? {
        try Database(folder.file).statement("SELECT rootpage FROM sqlite_schema WHERE name = ?").integer(.text(name))
    }

    @Test func `a store that closes leaves a damaged file to the next one`() async throws {
        try await store()
        folder.write([0x77], to: folder.file, at: 8192 * 3)
        let damaged = folder.bytes(folder.file)
        let time = Atomic<UInt64>(0)
        let watch = StatementWatch(now: { time.load(ordering: .relaxed) })
        watch.close()
        time.store(StatementWatch.grace, ordering: .relaxed)
        let error = #expect(throws: Database.Failure.self) {
            try SQLiteEngine.openFile(
                "\(folder.path)/\(SQLiteEngine.fileName)",
                in: folder.path,
                OutboxEvent.start,
                watch,
                { _ throws(Database.Failure) in throw .damaged("a page") },
                onDamage: { aside.add($0, $1) }
            )
        }
        #expect(error?.isDamage == false && error?.description.contains("closed") == true)
        #expect(aside.all.isEmpty)
        #expect(folder.bytes(folder.file) == damaged)
        #expect(!folder.names.contains { $0.contains("salvag") }, "\(folder.names)")
        let engine = try await engine()
        let records = try await engine.records(RecordSelection())
        #expect(aside.all.count == 1 && records.count >= 400 - 30)
        await engine.close()
    }

    @Test func `a salvage that takes long tells at intervals how many rows it has read`() async throws {
        try await store()
        folder.write([0x77], to: folder.file, at: 8192 * 3)
        // One nanosecond for each look.
        var time: UInt64 = 0
        var told: [Int] = []
        let progress = SalvageProgress(
            interval: 100,
            now: {
                time += 1
                return time
            },
            tell: { told.append($0) }
        )
        var salvage = try Salvage(
            of: folder.file,
            into: "\(folder.path)/new",
            watch: StatementWatch(),
            progress: progress
        )
        try salvage.run()
        salvage.release()
        #expect(told.count >= 3 && told.first == 100, "\(told)")
        #expect(zip(told, told.dropFirst()).allSatisfy { $0 <= $1 } && told.last ?? 0 >= 300, "\(told)")
    }

    @Test(arguments: [false, true])
    func `a damaged byte in any page, or a lost page, costs only the events of that page`(
        isLost: Bool
    ) async throws {
        try await store()
        let whole = folder.bytes(folder.file)
        let pages = whole.count / 8192
        #expect(pages > 10)
        for page in 0..<pages {
            for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
            folder.write(whole, to: folder.file)
            // The first byte of a page says what kind it is; the first page begins with a header of 100 bytes.
            let damage = isLost ? [UInt8](repeating: 0, count: 8192) : [0x77]
            folder.write(damage, to: folder.file, at: page == 0 && !isLost ? 100 : page * 8192)
            let count = aside.all.count
            let engine = try await engine()
            #expect(try await engine.append([.numbered(5000)], to: ["a"]).isApplied == [true])
            var delivered: Set<String> = []
            while true {
                let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
                if batch.isEmpty { break }
                delivered.formUnion(batch.entries.map(\.id))
                try await engine.settle(
                    batch,
                    batch.entries.map { _ in .delivered },
                    Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in nil })
                )
            }
            #expect(
                delivered.count >= 401 - 30,
                "page \(page): \(delivered.count) of 401, \(aside.all.last?.reason ?? "")"
            )
            #expect(delivered.contains("event-5000"))
            if aside.all.count > count {
                #expect(aside.all.last?.reason.contains("events") == true)
            }
            await engine.close()
        }
        #expect(aside.all.count > pages / 2)
    }

    /// With its index, the numbers of the connectors are lost.
    @Test(arguments: [["targets"], ["targets", "sqlite_autoindex_targets_1"]])
    func `a lost page of the connectors gives none of them the events of another`(_ lost: [String]) async throws {
        let first = try await engine()
        // Numbers a connector that is in no route, so that the order of the routes is not that of the numbers.
        _ = try await first.countDropped(1, of: "c")
        _ = try await first.append([.numbered(1), .numbered(2)], to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        let failures = [DeliveryFailure(.unavailable, "away"), nil]
        let attempt = Attempt(at: OutboxEvent.start, failures: failures)
        try await first.settle(batch, [.retry(at: OutboxEvent.start), .delivered], attempt)
        _ = try await first.append([.numbered(3)], to: ["b"])
        await first.close()
        for name in lost {
            let page = try #require(try rootPage(of: name))
            folder.write([UInt8](repeating: 0, count: 8192), to: folder.file, at: (Int(page) - 1) * 8192)
        }
        let engine = try await engine()
        _ = try await engine.statistics()
        #expect(aside.all.count == 1)
        #expect(aside.all.last?.reason.contains("progress was lost") == (lost.count == 2))
        func waiting(_ path: String) async throws -> [String] {
            try await engine.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start).entries.map(\.id)
        }
        #expect(try await waiting("a").contains("event-1"))
        #expect(try await waiting("b") == ["event-3"])
        await engine.close()
    }

    @Test func `a lost page of progress queues every event once, and the next failures are recorded`() async throws {
        let first = try await engine()
        _ = try await first.append([.numbered(1), .numbered(2), .numbered(3)], to: ["a"])
        let later = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 3_600_000_000_000)
        let failure = DeliveryFailure(.unavailable, "away")
        try await first.settle(
            try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start),
            [.retry(at: later), .dead, .delivered],
            Attempt(at: OutboxEvent.start, failures: [failure, failure, nil])
        )
        await first.close()
        let page = try #require(try rootPage(of: "cursors"))
        folder.write([UInt8](repeating: 0, count: 8192), to: folder.file, at: (Int(page) - 1) * 8192)
        let engine = try await engine()
        #expect(try await engine.statistics()["a"]?.queued == 3)
        #expect(aside.all.last?.reason.contains("progress was lost") == true)
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.id) == ["event-1", "event-2", "event-3"])
        try await engine.settle(
            batch,
            batch.entries.map { _ in .retry(at: later) },
            Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in failure })
        )
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.dead) == (3, 0))
        await engine.close()
    }

    @Test func `a damaged byte in the page of the connectors leaves their counts as they were`() async throws {
        let first = try await engine()
        _ = try await first.countDropped(3, of: "b")
        _ = try await first.append([.numbered(1), .numbered(2)], to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        let attempt = Attempt(at: OutboxEvent.start, failures: [nil, nil])
        try await first.settle(batch, [.delivered, .delivered], attempt)
        let before = try await first.statistics()
        #expect(before["a"]?.delivered == 2 && before["b"]?.dropped == 3)
        await first.close()
        let page = try #require(try rootPage(of: "targets"))
        folder.write([0x77], to: folder.file, at: (Int(page) - 1) * 8192)
        let engine = try await engine()
        #expect(try await engine.statistics() == before)
        #expect(aside.all.count == 1)
        await engine.close()
    }

    @Test func `a damaged page of attempts duplicates no attempt of another page`() async throws {
        let first = try await engine()
        for number in 1...200 { _ = try await first.append([.numbered(number)], to: ["a"]) }
        while case let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start),
            !batch.isEmpty
        {
            let filling = String(repeating: "no ", count: 100)
            // Equal attempts at neighboring events share one row.
            let failures = batch.entries.map { DeliveryFailure(.invalid, "\($0.id): \(filling)") }
            let attempt = Attempt(at: OutboxEvent.start, failures: failures)
            try await first.settle(batch, batch.entries.map { _ in .dead }, attempt)
        }
        await first.close()
        let whole = folder.bytes(folder.file)
        for page in 1..<whole.count / 8192 {
            for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
            folder.write(whole, to: folder.file)
            folder.write([0x77], to: folder.file, at: page * 8192)
            let engine = try await engine()
            let counts = try await engine.records(RecordSelection()).map(\.attempts.count)
            #expect(counts.count == 200 && counts.allSatisfy { $0 <= 1 }, "page \(page): \(Set(counts))")
            await engine.close()
        }
        #expect(aside.all.count > 5)
    }

    @Test func `a page of the log with an impossible page number costs only that page`() async throws {
        let engine = try await engine()
        for number in 1...20 { _ = try await engine.append([.numbered(number)], to: ["a"]) }
        let (file, log) = (folder.bytes(folder.file), folder.bytes(folder.file + "-wal"))
        await engine.close()
        let copy = try Folder()
        copy.write(file, to: copy.file)
        copy.write(log, to: copy.file + "-wal")
        // The first page of the log, whose number is at the beginning of its header.
        copy.write([0xFF, 0xFF, 0xFF, 0xFF], to: copy.file + "-wal", at: 32)
        var ids: Set<String> = []
        try #require(PageScan(copy.file)).forEachRow { found in
            if case .row(.events, let values) = found, let id = values[1].text { ids.insert(id) }
        }
        #expect(ids == Set((1...20).map { "event-\($0)" }))
    }

    /// The ids of the events in the pages of the folder's file, and how many pages were read for them.
    private func scan() throws -> (ids: Set<String>, pages: Int) {
        var (ids, pages) = (Set<String>(), 0)
        try #require(PageScan(folder.file)).forEachRow(onPage: { pages += 1 }) { found in
            if case .row(.events, let values) = found, let id = values[1].text { ids.insert(id) }
        }
        return (ids, pages)
    }

    @Test func `a large file that is no database is set aside without being read`() async throws {
        folder.write([0x77], to: folder.file, at: 5000)
        try #require(unsafe truncate(folder.file, off_t(1) << 36) == 0)
        #expect(try scan().pages == 0)
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        await engine.close()
        let reason = try #require(aside.all.last?.reason)
        #expect(aside.paths.count == 1 && reason.contains("how many are missing is not known"), "\(reason)")
    }

    @Test func `the pages between the holes of a sparse file are read, and the holes are not`() async throws {
        try await store()
        let ids = try scan().ids
        #expect(!ids.isEmpty)
        let size = off_t(1) << 30
        try #require(unsafe truncate(folder.file, size) == 0)
        let descriptor = unsafe open(folder.file, O_RDONLY)
        defer { close(descriptor) }
        let (found, pages) = try scan()
        #expect(found == ids)
        // Not every file system tells where the holes are.
        if LogScan.data(descriptor, from: Int(size / 2)) == nil { #expect(pages < 1000) }
    }

    @Test func `what a salvage left that was ended is removed at the next start`() async throws {
        try await store()
        for suffix in ["", "-wal", "-shm"] { folder.write([0], to: folder.file + ".salvaging" + suffix) }
        let engine = try await engine()
        #expect(!folder.names.contains { $0.contains("salvaging") }, "\(folder.names)")
        await engine.close()
    }

    @Test func `two processes that meet a damaged file lose nothing that either has confirmed`() async throws {
        for round in 0..<10 {
            try await store()
            let whole = folder.bytes(folder.file)
            folder.write([0x77], to: folder.file, at: round % 2 == 0 ? 100 : 8192)
            #expect(whole.count > 8192)
            let (folder, aside) = (folder, aside)
            let confirmed = await withTaskGroup(of: [String].self) { group in
                for process in 1...4 {
                    group.addTask {
                        do {
                            let engine = try await folder.engine { aside.add($0, $1) }
                            var ids: [String] = []
                            for number in 1...20 {
                                let event = OutboxEvent.numbered(process * 1000 + number)
                                _ = try await engine.append([event], to: ["a"])
                                ids.append(event.id)
                            }
                            await engine.close()
                            return ids
                        } catch {
                            Issue.record(error)
                            return []
                        }
                    }
                }
                return await group.reduce(into: Set<String>()) { $0.formUnion($1) }
            }
            #expect(confirmed.count == 80)
            let engine = try await engine()
            let ids = Set(try await engine.records(RecordSelection()).map(\.event.id))
            #expect(confirmed.subtracting(ids).isEmpty)
            await engine.close()
            for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        }
    }

    @Test func `an event altered by a damaged byte is in no batch with others, and its payload in none`() async throws {
        let first = try await engine()
        _ = try await first.append((1...3).map { .numbered($0, bytes: 100) }, to: ["a"])
        await first.close()
        let offset = try #require(folder.offset(of: "{\"n\":2", in: folder.file))
        folder.write([UInt8(ascii: "9")], to: folder.file, at: offset + 5)
        let engine = try await engine()
        for number in 1...3 {
            let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
            #expect(batch.entries.map(\.id) == ["event-\(number)"])
            #expect(batch.entries.map(\.bytes) == [100])
            #expect((batch.damage != nil) == (number == 2))
            #expect(batch.json.count == (number == 2 ? 0 : 102))
            let failure = batch.damage ?? DeliveryFailure(.invalid, "no")
            try await engine.settle(batch, [.dead], Attempt(at: OutboxEvent.start, failures: [failure]))
        }
        await engine.close()
    }

    @Test func `an event altered by a damaged byte becomes a dead letter that says so`() async throws {
        do {
            let bench = Bench(folder: folder)
            bench.vendor.isOpen = false
            try await bench.outbox.start(isStored: true)
            _ = try await bench.outbox.append(bench.events(1...3, bytes: 100), to: ["a"])
            await bench.outbox.close()
        }
        let offset = try #require(folder.offset(of: "{\"n\":2", in: folder.file))
        folder.write([UInt8(ascii: "9")], to: folder.file, at: offset + 5)
        let bench = Bench(folder: folder)
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        #expect(bench.vendor.batches.flatMap(\.self) == ["event-1", "event-3"])
        #expect(bench.statistics().dead == 1)
        let dead = try await bench.outbox.records(RecordSelection(states: [.dead]))
        #expect(dead.map(\.event.id) == ["event-2"])
        #expect(dead.first?.attempts.last?.failure?.reason.contains("checksum") == true)
        await bench.outbox.close()
    }
}
