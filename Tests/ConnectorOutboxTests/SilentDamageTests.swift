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

/// Damage in which SQLite sees nothing wrong, or after which it reads nothing, costs no event and is not kept quiet.
@Suite(.timeLimit(.minutes(5))) struct SilentDamageTests {
    private let folder: Folder
    private let aside = Aside()

    init() throws {
        folder = try Folder()
    }

    private func engine() async throws(ConnectorError) -> SQLiteEngine {
        try await folder.engine { [aside] in aside.add($0, $1) }
    }

    /// Changes one bit of a file.
    private func flip(_ offset: Int, of path: String) throws {
        let bytes = folder.bytes(path)
        try #require(offset < bytes.count)
        folder.write([bytes[offset] ^ 1], to: path, at: offset)
    }

    private func ids(_ engine: SQLiteEngine, _ states: Set<OutboxRecord.State>? = nil) async throws -> [String] {
        try await engine.records(RecordSelection(states: states)).map(\.event.id)
    }

    private func waiting(_ engine: SQLiteEngine, _ path: String) async throws -> [String] {
        try await engine.batch(for: path, upTo: BatchLimits(), now: OutboxEvent.start).entries.map(\.id)
    }

    private func names(_ numbers: ClosedRange<Int>) -> [String] { numbers.map { "event-\($0)" } }

    // MARK: The log

    /// Puts copies of a file and its log into the folder, as a process that was killed leaves them.
    private func place(_ file: [UInt8], _ log: [UInt8]) {
        for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        folder.write(file, to: folder.file)
        folder.write(log, to: folder.file + "-wal")
    }

    @Test func `a damaged bit in the log costs none of the events that were stored after it`() async throws {
        let first = try await engine()
        var sizes: [Int] = []
        for number in 1...8 {
            _ = try await first.append([.numbered(number)], to: ["a"])
            sizes.append(folder.bytes(folder.file + "-wal").count)
        }
        let (file, log) = (folder.bytes(folder.file), folder.bytes(folder.file + "-wal"))
        await first.close()
        // The salt of the log, and the salt, the checksum and the page of a frame.
        for (round, offset) in [16, sizes[2] + 8, sizes[2] + 16, sizes[2] + 24 + 5000].enumerated() {
            place(file, log)
            try flip(offset, of: folder.file + "-wal")
            let engine = try await engine()
            #expect(aside.all.count == round + 1, "byte \(offset)")
            #expect(try await ids(engine) == names(1...8), "byte \(offset): \(aside.all.last?.reason ?? "")")
            #expect(try await waiting(engine, "a") == names(1...8))
            let kept = try #require(aside.all.last?.path)
            #expect(folder.bytes(kept + "-wal").count == log.count, "the log is kept, too")
            await engine.close()
        }
    }

    @Test func `a log whose last transaction is torn is no damage`() async throws {
        let first = try await engine()
        for number in 1...3 { _ = try await first.append([.numbered(number)], to: ["a"]) }
        let start = folder.bytes(folder.file + "-wal").count
        _ = try await first.append([.numbered(4)], to: ["a"])
        let (file, log) = (folder.bytes(folder.file), folder.bytes(folder.file + "-wal"))
        await first.close()
        // The salt and the checksum of its first frame, behind which its commit is whole; the first and the last byte of its
        // last page.
        for offset in [start + 8, start + 16, log.count - 8192, log.count - 1] {
            place(file, log)
            try flip(offset, of: folder.file + "-wal")
            let engine = try await engine()
            #expect(aside.all.isEmpty, "\(aside.all)")
            #expect(try await ids(engine) == names(1...3))
            await engine.close()
        }
    }

    @Test func `a salvage that ends early leaves a damaged log to the next one`() async throws {
        let first = try await engine()
        for number in 1...4 { _ = try await first.append([.numbered(number)], to: ["a"]) }
        let (file, log) = (folder.bytes(folder.file), folder.bytes(folder.file + "-wal"))
        await first.close()
        place(file, log)
        try flip(16, of: folder.file + "-wal")
        let time = Atomic<UInt64>(0)
        let watch = StatementWatch(now: { time.load(ordering: .relaxed) })
        watch.close()
        time.store(StatementWatch.grace, ordering: .relaxed)
        #expect(throws: Database.Failure.self) {
            try SQLiteEngine.openFile(
                folder.file,
                in: folder.path,
                OutboxEvent.start,
                watch,
                { _ throws(Database.Failure) in throw .damaged("a page") },
                onDamage: { aside.add($0, $1) }
            )
        }
        #expect(aside.all.isEmpty)
        #expect(folder.bytes(folder.file + "-wal").count == log.count)
        let engine = try await engine()
        #expect(aside.all.count == 1)
        #expect(try await ids(engine) == names(1...4))
        await engine.close()
    }

    /// A transaction that was not synchronized may be on the disk while the one before it is not.
    @Test func `a power failure between two deliveries loses no event`() async throws {
        let first = try await engine()
        _ = try await first.append((1...3).map { .numbered($0) }, to: ["a"])
        var sizes: [Int] = []
        for _ in 1...2 {
            sizes.append(folder.bytes(folder.file + "-wal").count)
            let batch = try await first.batch(for: "a", upTo: BatchLimits(count: 1), now: OutboxEvent.start)
            try await first.settle(batch, [.delivered], Attempt(at: OutboxEvent.start, failures: [nil]))
        }
        let file = folder.bytes(folder.file)
        var log = folder.bytes(folder.file + "-wal")
        await first.close()
        for offset in sizes[0]..<sizes[1] { log[offset] = 0 }
        place(file, log)
        let engine = try await engine()
        #expect(try await ids(engine) == names(1...3))
        #expect(try await waiting(engine, "a") == names(1...3))
        await engine.close()
    }

    // MARK: Progress

    /// Stores events 1 to 20 for `a` and `b`, delivers the first five to `a`, and changes the file while no outbox has it open.
    private func alter(_ statements: String) async throws {
        let first = try await engine()
        _ = try await first.append((1...20).map { .numbered($0) }, to: ["a", "b"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(count: 5), now: OutboxEvent.start)
        let attempt = Attempt(at: OutboxEvent.start, failures: Array(repeating: nil, count: 5))
        try await first.settle(batch, Array(repeating: .delivered, count: 5), attempt)
        await first.close()
        try Database(folder.file).run(statements)
    }

    @Test(arguments: [
        "UPDATE cursors SET position = position + 1000000 WHERE target = 2",
        "UPDATE cursors SET position = position + 5 WHERE target = 2", "UPDATE cursors SET target = 6 WHERE target = 2",
        "DELETE FROM cursors WHERE target = 2", "UPDATE targets SET target = 6 WHERE target = 2",
        "DELETE FROM targets WHERE target = 2", "UPDATE routes SET route = 5", "DELETE FROM routes",
        "UPDATE routes SET targets = '[\"a\",\"b]'",
    ])
    func `damaged progress is noticed when the file is opened, and stops no event`(_ damage: String) async throws {
        try await alter(damage)
        let engine = try await engine()
        #expect(aside.all.count == 1)
        // What the first reading after it lists is there.
        #expect(try await engine.statistics()["b"]?.queued == 20, "\(aside.all.last?.reason ?? "")")
        #expect(try await waiting(engine, "b") == names(1...20))
        #expect(Set(try await waiting(engine, "a")).isSuperset(of: names(6...20)))
        await engine.close()
        let next = try await self.engine()
        #expect(try await waiting(next, "b") == names(1...20))
        #expect(aside.all.count == 1, "the new file is sound")
        await next.close()
    }

    @Test(arguments: [
        "UPDATE cursors SET count = count + 3 WHERE target = 1",
        "UPDATE cursors SET count = count - 3 WHERE target = 1",
        "UPDATE routes SET count = count + 64", "UPDATE targets SET retried = 3 WHERE target = 1",
    ])
    func `a damaged count is corrected, and no event is sent again`(_ damage: String) async throws {
        try await alter(damage)
        let engine = try await engine()
        #expect(aside.all.count == 1)
        #expect(aside.all.last?.reason.contains("none is known to be missing") == true)
        #expect(try await engine.statistics()["a"]?.queued == 15)
        #expect(try await waiting(engine, "a") == names(6...20))
        #expect(try await engine.statistics()["a"]?.delivered == 5)
        await engine.close()
    }

    @Test func `a dead letter that only the index has is salvaged`() async throws {
        let first = try await engine()
        _ = try await first.append((1...20).map { .numbered($0) }, to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        let failures = batch.entries.map { _ in DeliveryFailure(.invalid, "no") }
        let attempt = Attempt(at: OutboxEvent.start, failures: failures)
        try await first.settle(batch, batch.entries.map { _ in .dead }, attempt)
        await first.close()
        let page = try #require(try rootPage(of: "dead"))
        // The second cell of the page becomes the first one again. SQLite finds that in order.
        let start = (Int(page) - 1) * 8192
        folder.write(folder.bytes(folder.file)[(start + 8)..<(start + 10)], to: folder.file, at: start + 10)
        try Database(folder.file).run("UPDATE targets SET retried = 1")
        let engine = try await engine()
        #expect(aside.all.count == 1)
        #expect(try await engine.statistics()["a"]?.dead == 20)
        #expect(try await ids(engine, [.dead]) == names(1...20))
        await engine.close()
    }

    /// The number of the first page of a table.
    private func rootPage(of name: String) throws -> Int64? {
        try Database(folder.file).statement("SELECT rootpage FROM sqlite_schema WHERE name = ?").integer(.text(name))
    }

    // MARK: The first page

    /// Stores events 1 to 20, of which two are dead letters, one is retried, one is delivered and one dropped.
    private func store() async throws {
        let first = try await engine()
        _ = try await first.append((1...20).map { .numbered($0) }, to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(count: 4), now: OutboxEvent.start)
        let failure = DeliveryFailure(.unavailable, "away")
        try await first.settle(
            batch,
            [.dead, .dead, .retry(at: OutboxEvent.start), .delivered],
            Attempt(at: OutboxEvent.start, failures: [failure, failure, failure, nil])
        )
        #expect(try await first.drop(RecordSelection(ids: ["event-9"], states: [.queued])) == 1)
        await first.close()
    }

    /// Checks that everything is as it was stored.
    private func checkStored(_ engine: SQLiteEngine) async throws {
        #expect(try await ids(engine, [.dead]) == names(1...2))
        #expect(try await ids(engine, [.dropped]) == ["event-9"])
        #expect(try await ids(engine, [.delivered]) == ["event-4"])
        #expect(try await ids(engine, [.queued]) == ["event-3"] + names(5...8) + names(10...20))
        #expect(aside.all.last?.reason.contains("none is known to be missing") == true)
        #expect(aside.all.last?.reason.contains("may get events again") == false)
    }

    /// The name of the format, the size of a page (4096, 65536 and none), the part of each that others use, and the format of the schema.
    @Test(
        arguments: [
            (3, [0x68]), (16, [0x10, 0x00]), (16, [0x00, 0x01]), (16, [0xFF, 0xFF]), (20, [0x20]), (47, [0xFF]),
        ] as [(Int, [UInt8])]
    )
    func `a damaged header revives neither dead letters nor dropped events`(offset: Int, bytes: [UInt8]) async throws {
        try await store()
        folder.write(bytes, to: folder.file, at: offset)
        let engine = try await engine()
        #expect(aside.all.count == 1)
        try await checkStored(engine)
        await engine.close()
    }

    @Test func `one damaged bit in the definition of a table is damage, and costs nothing`() async throws {
        try await store()
        while let offset = folder.offset(of: "payload BLOB", in: folder.file) { try flip(offset, of: folder.file) }
        let engine = try await engine()
        #expect(aside.all.count == 1)
        try await checkStored(engine)
        await engine.close()
    }

    @Test func `the events that a shortened file has lost are counted, with those that left no trace`() async throws {
        let first = try await engine()
        for number in 1...400 { _ = try await first.append([.numbered(number, bytes: 300)], to: ["a"]) }
        await first.close()
        let pages = folder.bytes(folder.file).count / 8192
        try #require(pages > 20)
        #expect(unsafe truncate(folder.file, off_t(pages * 3 / 4 * 8192)) == 0)
        let engine = try await engine()
        let queued = try #require(try await engine.statistics()["a"]).queued
        #expect(queued < 400)
        let reason = try #require(aside.all.last?.reason)
        #expect(reason.contains("at least \(400 - queued) events could not be read"), "\(reason)")
        await engine.close()
    }

    @Test func `of a file that is not an outbox it is not known how many events are missing`() async throws {
        try await store()
        let size = folder.bytes(folder.file).count
        folder.write((0..<size).map { UInt8(truncatingIfNeeded: $0 &* 151 &+ $0 >> 8) }, to: folder.file)
        let engine = try await engine()
        let reason = try #require(aside.all.last?.reason)
        #expect(reason.contains("0 waiting events"), "\(reason)")
        #expect(reason.contains("how many are missing is not known"), "\(reason)")
        await engine.close()
    }

    @Test func `events that the counters name and that left no other trace are told of`() async throws {
        try await alter("DELETE FROM events WHERE id IN ('event-11', 'event-12')")
        let engine = try await engine()
        let reason = try #require(aside.all.last?.reason)
        #expect(reason.contains("up to 2 more may be missing, by the counters"), "\(reason)")
        #expect(Set(try await waiting(engine, "b")) == Set(names(1...20)).subtracting(["event-11", "event-12"]))
        await engine.close()
    }

    // MARK: The file without its log, and the log without its file

    @Test(arguments: [true, false])
    func `a log whose file is missing or empty is read, and not deleted`(isMissing: Bool) async throws {
        let first = try await engine()
        for number in 1...20 { _ = try await first.append([.numbered(number)], to: ["a"]) }
        let batch = try await first.batch(for: "a", upTo: BatchLimits(count: 5), now: OutboxEvent.start)
        let attempt = Attempt(at: OutboxEvent.start, failures: Array(repeating: nil, count: 5))
        try await first.settle(batch, Array(repeating: .delivered, count: 5), attempt)
        let log = folder.bytes(folder.file + "-wal")
        await first.close()
        place([], log)
        if isMissing { unsafe unlink(folder.file) }
        #expect(SQLiteEngine.isStored(in: folder.path))
        #expect(await SQLiteEngine.waitingCounts(in: folder.path).isEmpty)
        #expect(folder.bytes(folder.file + "-wal") == log, "looking leaves it as it is")
        let engine = try await engine()
        #expect(aside.all.count == 1)
        #expect(try await waiting(engine, "a") == names(6...20), "\(aside.all.last?.reason ?? "")")
        let kept = try #require(aside.all.last?.path)
        #expect(folder.bytes(kept + "-wal") == log)
        await engine.close()
    }

    // MARK: Positions

    /// The bits to flip in the last byte of the position of an event of twenty: with them the event is in front of others, in the place of
    /// another, behind all others, or beyond what was ever given.
    @Test(arguments: [(10, 0x08), (10, 0x01), (10, 0x10), (10, 0x40), (20, 0x08), (20, 0x40)] as [(Int, UInt8)])
    func `an event with a damaged position arrives in its turn, and holds up no other`(
        number: Int,
        bits: UInt8
    ) async throws {
        let first = try await engine()
        _ = try await first.append((1...20).map { .numbered($0) }, to: ["a"])
        await first.close()
        try alterPosition(of: number, bits)
        let engine = try await engine()
        var delivered: [String] = []
        while case let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start),
            !batch.isEmpty
        {
            #expect(batch.damage == nil)
            delivered += batch.entries.map(\.id)
            let attempt = Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in nil })
            try await engine.settle(batch, batch.entries.map { _ in .delivered }, attempt)
        }
        #expect(delivered == names(1...20), "\(aside.all.last?.reason ?? "")")
        #expect(aside.all.count == 1)
        #expect(aside.all.last?.reason.contains("none is known to be missing") == true)
        await engine.close()
    }

    /// Flips bits in the last byte of the position of an event.
    private func alterPosition(of number: Int, _ bits: UInt8) throws {
        // The id follows the head of its record, which begins with its size, and that follows the position.
        let id = try #require(folder.offset(of: "event-\(number)analytics", in: folder.file))
        let bytes = folder.bytes(folder.file)
        let head = try #require((6...10).first { Int(bytes[id - $0]) == $0 && bytes[id - $0 + 1] == 0 })
        try #require(bytes[id - head - 1] == UInt8(number))
        folder.write([UInt8(number) ^ bits], to: folder.file, at: id - head - 1)
    }

    @Test func `a cursor that has passed waiting events is noticed while the file is open`() async throws {
        let engine = try await engine()
        _ = try await engine.append((1...20).map { .numbered($0) }, to: ["a"])
        #expect(try await waiting(engine, "a") == names(1...20))
        try Database(folder.file).run("UPDATE cursors SET position = position + 20")
        #expect(try await waiting(engine, "a") == names(1...20))
        #expect(aside.all.count == 1)
        await engine.close()
    }

    @Test func `a retry whose event has another position is noticed, and made`() async throws {
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        let attempt = Attempt(at: OutboxEvent.start, failures: [DeliveryFailure(.unavailable, "away")])
        try await engine.settle(batch, [.retry(at: OutboxEvent.start)], attempt)
        await engine.close()
        try alterPosition(of: 1, 1)
        let next = try await self.engine()
        #expect(try await waiting(next, "a") == names(1...1), "\(aside.all.last?.reason ?? "")")
        #expect(aside.all.count == 1)
        await next.close()
    }

    // MARK: Events

    @Test func `an event whose time the disk has made negative is a dead letter that is listed and replayed`()
        async throws
    {
        let engine = try await engine()
        _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a"])
        try Database(folder.file).run("UPDATE events SET created = -1 WHERE id = 'event-1'")
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.id) == ["event-1"])
        let failure = try #require(batch.damage)
        try await engine.settle(batch, [.dead], Attempt(at: OutboxEvent.start, failures: [failure]))
        #expect(try await ids(engine, [.dead]) == ["event-1"])
        #expect(try await engine.replay(RecordSelection(paths: ["a"])) == 1)
        #expect(try await engine.statistics()["a"]?.queued == 2)
        #expect(aside.all.isEmpty)
        await engine.close()
    }

    @Test func `an event without a checksum that is not one JSON value becomes a dead letter, and the others arrive`()
        async throws
    {
        do {
            let bench = Bench(folder: folder)
            bench.vendor.isOpen = false
            try await bench.outbox.start(isStored: true)
            _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
            await bench.outbox.close()
        }
        // As long as before, and in the middle of an array two events.
        let payload = #"{"n":2},{"f":"xxxx"}"#
        #expect(payload.utf8.count == OutboxEvent.numbered(2).payload.count)
        try Database(folder.file).run(
            """
            UPDATE events SET checksum = NULL;
            UPDATE events SET payload = CAST('\(payload)' AS BLOB) WHERE id = 'event-2'
            """
        )
        let bench = Bench(folder: folder)
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        #expect(bench.vendor.batches.flatMap(\.self) == ["event-1", "event-3"])
        let dead = try await bench.outbox.records(RecordSelection(states: [.dead]))
        #expect(dead.map(\.event.id) == ["event-2"] && dead.first?.attempts.last?.failure?.code == .storage)
        await bench.outbox.close()
    }
}
