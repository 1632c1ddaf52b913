// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS
@testable import ConnectorOutboxSQLite

/// What every engine promises.
@Suite(.sharedNATSServers, .timeLimit(.minutes(5))) final class EngineTests {
    /// The engines, a new one for each test.
    enum Kind: CaseIterable {
        case memory, sqlite, nats, cluster

        /// The engines that this machine can run.
        static let usable = NATSServers.areInstalled ? allCases : [.memory, .sqlite]

        /// The engines that know each event per connector, whichever others have it.
        static let exact: [Self] = [.memory, .sqlite]

        /// Whether it remembers every attempt.
        var remembers: Bool { Self.exact.contains(self) }
        /// Whether it counts the bytes of each connector, instead of taking the average.
        var countsBytes: Bool { Self.exact.contains(self) }
    }

    private let folder: Folder
    let now = OutboxEvent.start

    init() throws {
        folder = try Folder()
    }

    func engine(_ kind: Kind) async throws -> any OutboxEngine {
        switch kind {
        case .memory: try await SQLiteEngine(now: { OutboxEvent.start })
        case .sqlite: try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { _, _ in }
        case .nats: try await natsEngine(1)
        case .cluster: try await natsEngine(3)
        }
    }

    private func natsEngine(_ count: Int) async throws -> NATSEngine {
        let paths = ["a", "b", "c"]
        let settings = try await SharedNATSServers.settings(count, paths)
        return try await NATSEngine(settings, paths: paths, now: { OutboxEvent.start })
    }

    func events(_ numbers: ClosedRange<Int>, bytes: Int = 20) -> [OutboxEvent] {
        numbers.map { .numbered($0, bytes: bytes) }
    }

    /// Stores events, and waits until they can be read: one server of three stores them, and another hands them out.
    ///
    /// - Returns: Which of them were new.
    @discardableResult
    func append(
        _ engine: any OutboxEngine,
        _ events: [OutboxEvent],
        to paths: [String]
    ) async throws -> [Bool] {
        let before = try await engine.statistics()
        let isNew = try await engine.append(events, to: paths).isApplied
        guard !(engine is SQLiteEngine) else { return isNew }
        let more = isNew.count { $0 }
        try await wait(engine) { statistics in
            paths.allSatisfy { (statistics[$0]?.queued ?? 0) >= (before[$0]?.queued ?? 0) + more }
        }
        return isNew
    }

    /// Waits until every server knows what another one has stored or deleted.
    func wait(_ engine: any OutboxEngine, until isKnown: ([String: QueueStatistics]) -> Bool) async throws {
        while true {
            if isKnown(try await engine.statistics()) { return }
            await Task.yield()
        }
    }

    func batch(_ engine: any OutboxEngine, _ path: String = "a", _ limits: BatchLimits = BatchLimits())
        async throws -> OutboxBatch
    {
        try await engine.batch(for: path, upTo: limits, now: now)
    }

    /// Settles a batch with one outcome for all.
    func settle(_ engine: any OutboxEngine, _ batch: OutboxBatch, _ outcome: DeliveryOutcome) async throws {
        let failure = outcome == .delivered ? nil : DeliveryFailure(.unavailable, "away")
        try await engine.settle(
            batch,
            batch.entries.map { _ in outcome },
            Attempt(at: now, failures: batch.entries.map { _ in failure })
        )
    }

    @Test(arguments: Kind.usable)
    func `whoever is to learn that events are stored learns it once, before the caller`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let steps = Mutex<[OutboxStep]>([])
        let step = try await engine.append(events(1...2), to: ["a"]) { step in steps.withLock { $0.append(step) } }
        #expect(step.isApplied == [true, true])
        #expect(steps.withLock(\.self) == [step])
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events come in the order of their arrival, to each connector at its own pace`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        #expect(try await append(engine, events(1...3), to: ["a", "b"]) == [true, true, true])
        try await append(engine, events(4...5), to: ["a"])
        try await append(engine, events(6...6), to: ["a", "b"])
        let first = try await batch(engine, "a", BatchLimits(count: 4))
        #expect(first.events == events(1...4))
        let payloads = events(1...4).map { String(decoding: $0.payload, as: UTF8.self) }.joined(separator: ",")
        #expect(String(decoding: first.json, as: UTF8.self) == "[\(payloads)]")
        #expect(first.part([3, 1]).events == [.numbered(4), .numbered(2)])
        #expect(
            try await batch(engine, "a", BatchLimits(count: 4)).entries.map(\.position) == first.entries.map(\.position)
        )
        try await settle(engine, first, .delivered)
        #expect(try await batch(engine).events == events(5...6))
        #expect(try await batch(engine, "b").entries.map(\.id) == ["event-1", "event-2", "event-3", "event-6"])
        #expect(try await batch(engine, "c").isEmpty)
        let statistics = try await engine.statistics()
        #expect(statistics["a"]?.queued == 2)
        #expect(statistics["a"]?.delivered == 4)
        #expect(statistics["a"]?.lastDelivered == now)
        #expect(statistics["b"]?.queued == 4)
        #expect(statistics["b"]?.oldest == now)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `an event whose id is stored is not stored again`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        #expect(try await append(engine, events(2...3), to: ["a"]) == [false, true])
        #expect(try await engine.statistics()["a"]?.queued == 3)
        try await settle(engine, try await batch(engine), .delivered)
        #expect(try await append(engine, events(3...3), to: ["a"]) == [false])
        #expect(try await batch(engine).isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `proving that events can be stored leaves every event alone, whatever its id`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let events = ["proof", "", "\0"].map { id in
            OutboxEvent(id: id, kind: EventKind("analytics/1", "track"), createdAt: now, payload: Array("{}".utf8))
        }
        try await append(engine, events, to: ["a"])
        for _ in 1...2 { try await engine.prove() }
        #expect(try await batch(engine).events == events)
        #expect(try await engine.records(RecordSelection()).count == 3)
        #expect(try await engine.statistics()["a"]?.queued == 3)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a batch keeps to its limits and to one capability`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...10, bytes: 100), to: ["a"])
        try await append(engine, [.numbered(11, capability: "crash/1")], to: ["a"])
        #expect(try await batch(engine, "a", BatchLimits(count: 3)).entries.count == 3)
        #expect(try await batch(engine, "a", BatchLimits(bytes: 350)).entries.count == 3)
        #expect(try await batch(engine, "a", BatchLimits(bytes: 10)).entries.count == 1, "a large event travels alone")
        let analytics = try await batch(engine)
        #expect(analytics.entries.count == 10)
        try await settle(engine, analytics, .delivered)
        #expect(try await batch(engine).entries.map(\.kind.capability) == ["crash/1"])
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `no event overtakes one that did not fit, even if another connector gets it too`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...1, bytes: 100), to: ["a"])
        try await append(engine, events(2...2, bytes: 500), to: ["a"])
        try await append(engine, events(3...3), to: ["a", "b"])
        for number in 1...3 {
            let next = try await batch(engine, "a", BatchLimits(bytes: 350))
            #expect(next.entries.map(\.id) == ["event-\(number)"])
            #expect(next.isFull == (number < 3))
            try await settle(engine, next, .delivered)
        }
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a retried event comes again at its time, and others overtake it`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a"])
        // Servers measure this by their own clock, however slow the machine is.
        let later = Timestamp(nanoseconds: now.nanoseconds + 3_000_000_000)
        let first = try await batch(engine)
        let failure = DeliveryFailure(.rateLimited, "slow down")
        try await engine.settle(
            first,
            [.delivered, .retry(at: later), .dead],
            Attempt(at: now, failures: [nil, failure, DeliveryFailure(.invalid, "bad")])
        )
        let empty = try await batch(engine)
        #expect(empty.isEmpty)
        #expect(empty.nextDue == later)
        try await append(engine, events(4...4), to: ["a"])
        #expect(try await batch(engine).entries.map(\.id) == ["event-4"])
        let again = try await engine.batch(for: "a", upTo: BatchLimits(), now: later)
        #expect(again.entries.map(\.id) == ["event-2"])
        #expect(again.entries.map(\.attempts) == [1])
        try await settle(engine, again, .delivered)
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.delivered, queue.dead) == (1, 2, 1))
        let records = try await engine.records(RecordSelection())
        #expect(records.map(\.state) == [.delivered, .delivered, .dead, .queued])
        if kind.remembers { #expect(records[1].attempts.map(\.failure) == [failure, nil]) }
        let dead = try #require(records.first { $0.state == .dead })
        #expect(dead.attempts.map(\.failure) == [DeliveryFailure(.invalid, "bad")])
        #expect(dead.event == .numbered(3))
        #expect(records.last?.attempts.isEmpty == true)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events that keep their place come next, after those that are retried at once`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a"])
        func first(of batch: OutboxBatch) -> OutboxBatch {
            batch.keeping(Array(batch.entries.prefix(1)))
        }
        try await engine.settle(first(of: try await batch(engine)), [.delivered], Attempt(at: now, failures: [nil]))
        let rest = try await batch(engine)
        #expect(rest.entries.map(\.id) == ["event-2", "event-3"])
        #expect(rest.entries.map(\.attempts) == [0, 0])
        let failure = DeliveryFailure(.timedOut, "not sent")
        try await engine.settle(first(of: rest), [.retry(at: now)], Attempt(at: now, failures: [failure]))
        var next = try await batch(engine)
        // Servers take a moment to hand it out again.
        while next.entries.first?.attempts == 0 { next = try await batch(engine) }
        #expect(next.entries.map(\.id) == ["event-2"])
        #expect(next.entries.map(\.attempts) == [1])
        try await settle(engine, next, .delivered)
        #expect(try await batch(engine).entries.map(\.id) == ["event-3"])
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `the end of a batch keeps its place beside what is settled, and what was not sent has no attempt`(_ kind: Kind)
        async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...5), to: ["a"])
        let later = Timestamp(nanoseconds: now.nanoseconds + 3_600_000_000_000)
        let failure = DeliveryFailure(.rateLimited, "slow down")
        var sent = try await batch(engine)
        sent.entries.removeLast()
        try await engine.settle(
            sent,
            [.delivered, .retry(at: later), .waiting, .waiting],
            Attempt(at: now, failures: [nil, failure, nil, failure])
        )
        let rest = try await batch(engine)
        #expect(rest.entries.map(\.id) == ["event-3", "event-4", "event-5"])
        let queue = try #require(try await engine.statistics()["a"])
        #expect(queue.queued == 4 && queue.delivered == 1)
        if kind.remembers {
            let records = try await engine.records(RecordSelection(states: [.queued]))
            #expect(records.map(\.event.id) == ["event-2", "event-3", "event-4", "event-5"])
            #expect(records.map { $0.attempts.map(\.failure) } == [[failure], [], [failure], []])
        }
        try await settle(engine, rest, .delivered)
        #expect(try await batch(engine).isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `equal failures in a row are kept as one, with a count`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        for _ in 1...1000 { try await settle(engine, try await batch(engine), .waiting) }
        let record = try #require(try await engine.records(RecordSelection(ids: ["event-2"])).first)
        #expect(record.state == .queued)
        if kind.remembers {
            #expect(record.attempts.map(\.count) == [1000])
            #expect(record.attempts.map(\.failure?.code) == [.unavailable])
        }
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events that every connector has are forgotten in time, except for dead letters`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...12_500), to: ["a"])
        let first = try await batch(engine, "a", BatchLimits(count: 1))
        try await settle(engine, first, .dead)
        while true {
            let next = try await batch(engine)
            if next.isEmpty { break }
            try await settle(engine, next, .delivered)
        }
        await (engine as? NATSEngine)?.state.withLock(\.trimming)?.value
        let records = try await engine.records(RecordSelection())
        #expect((kind.remembers ? 10_001...11_001 : 1001...2001).contains(records.count))
        #expect(records.first?.event.id == "event-1")
        #expect(records.first?.state == .dead)
        #expect(try await engine.replay(RecordSelection()) == 1)
        try await wait(engine) { $0["a"]?.queued == 1 }
        try await settle(engine, try await batch(engine), .delivered)
        // With NATS it came last again; elsewhere it kept its position, beyond what is remembered.
        let replayed = try await engine.records(RecordSelection(ids: ["event-1"]))
        #expect(replayed.map(\.state) == (kind.remembers ? [] : [.delivered]))
        #expect(try await engine.statistics()["a"]?.delivered == 12_500)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `the events of concurrent callers are all stored`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        await withTaskGroup { group in
            for number in 1...200 {
                group.addTask {
                    _ = try? await engine.append([.numbered(number)], to: number % 2 == 0 ? ["a"] : ["a", "b"])
                }
            }
        }
        try await wait(engine) { $0["a"]?.queued == 200 && $0["b"]?.queued == 100 }
        #expect(Set(try await batch(engine).entries.map(\.id)).count == 200)
        #expect(try await batch(engine, "b").entries.count == 100)
        await engine.close()
    }

    @Test(arguments: Kind.exact, [DeliveryOutcome.delivered, .retry(at: OutboxEvent.start), .dead])
    func `an event that is dropped while it is being delivered stays dropped, unless the vendor takes it`(
        _ kind: Kind,
        _ outcome: DeliveryOutcome
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...10), to: ["a"])
        let fresh = try await batch(engine)
        #expect(try await engine.drop(RecordSelection(ids: ["event-1", "event-5"])) == 2)
        try await settle(engine, fresh, .retry(at: now))
        let retried = try await batch(engine)
        #expect(retried.entries.count == 8)
        #expect(try await engine.drop(RecordSelection(ids: ["event-2", "event-6"])) == 2)
        try await settle(engine, retried, outcome)
        var queue = try #require(try await engine.statistics()["a"])
        let isTaken = if case .delivered = outcome { true } else { false }
        #expect(queue.queued + queue.dead + queue.delivered == (isTaken ? 8 : 6))
        #expect(queue.dropped == (isTaken ? 2 : 4))
        #expect(try await engine.drop(RecordSelection()) == queue.queued + queue.dead)
        queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.dead, queue.bytes) == (0, 0, 0))
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a list continues after a cursor, whatever comes and goes meanwhile`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...25), to: ["a"])
        try await settle(engine, try await batch(engine), .dead)
        var (seen, place, pages) = ([String](), RecordCursor?.none, 0)
        repeat {
            let selection = RecordSelection(states: [.dead], limit: 10, after: place)
            let records = try await engine.records(selection)
            #expect(records.count <= 10)
            seen += records.map(\.event.id)
            place = records.next(limit: 10)
            pages += 1
            if pages == 1 {
                // One that was seen, the one of the cursor, and one still to come are dropped; a new one is added.
                let last = try #require(records.last?.event.id)
                #expect(try await engine.drop(RecordSelection(ids: ["event-1", last, "event-17"])) == 3)
                try await append(engine, events(26...26), to: ["a"])
                try await settle(engine, try await batch(engine), .dead)
            }
        } while place != nil && pages < 10
        #expect(pages == 3)
        #expect(Set(seen).count == seen.count, "none is seen twice")
        #expect(Set(seen) == Set((1...26).map { "event-\($0)" }).subtracting(["event-17"]))
        let end = RecordCursor(time: .max, position: .max, path: "a")
        #expect(try await engine.records(RecordSelection(states: [.dead], after: end)).isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `a list of waiting events can continue between two connectors of one event`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...4), to: ["a", "b"])
        var (seen, place) = ([String](), RecordCursor?.none)
        repeat {
            let records = try await engine.records(RecordSelection(states: [.queued], limit: 3, after: place))
            seen += records.map { "\($0.event.id) \($0.path)" }
            place = records.next(limit: 3)
        } while place != nil && seen.count < 20
        #expect(seen == (1...4).flatMap { ["event-\($0) a", "event-\($0) b"] })
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `a known event is new for a connector that it was not sent to`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        try await settle(engine, try await batch(engine), .delivered)
        for _ in 1...2 { #expect(try await append(engine, events(1...1), to: ["a", "b"]) == [false]) }
        #expect(try await batch(engine).isEmpty)
        let second = try await batch(engine, "b")
        #expect(second.events == events(1...1))
        #expect(try await engine.statistics()["b"]?.queued == 1)
        try await settle(engine, second, .delivered)
        try await append(engine, events(1...1), to: ["b"])
        #expect(try await engine.statistics()["b"]?.queued == 0)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `at time 0 no retry is due, even one that was never to wait, so new events come`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...1), to: ["a"])
        try await append(engine, events(1...2), to: ["b"])
        let new = try await engine.batch(for: "b", upTo: BatchLimits(), now: Timestamp(nanoseconds: 0))
        #expect(new.events == events(2...2))
        #expect(try await batch(engine, "b").events == events(1...1))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an id by which other connectors know another event is refused, and nothing is stored`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...2), to: ["a"])
        var (changed, renamed) = (OutboxEvent.numbered(1), OutboxEvent.numbered(1))
        changed.payload = Array("{}".utf8)
        renamed.kind.operation = "identify"
        for (event, paths) in [(changed, ["b"]), (changed, ["a", "b"]), (renamed, ["b"])] {
            let error = try await #require(throws: ConnectorError.self) {
                try await engine.append([.numbered(3), event], to: paths)
            }
            #expect(error.code == .conflict)
            #expect(error.message.contains("event-1"))
        }
        #expect(try await engine.statistics()["b"] == nil)
        // For a connector that has the event, it is a repetition.
        #expect(try await append(engine, [changed, renamed], to: ["a"]) == [false, false])
        #expect(try await batch(engine).events == events(1...2))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an event sent again with a later timestamp is the same one, for a connector that lacks it, too`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        var (first, again) = (OutboxEvent.numbered(1), OutboxEvent.numbered(1))
        first.payload = Array(#"{"event":"Seen","timestamp":"2026-01-01T00:00:00Z"}"#.utf8)
        again.payload = Array(#"{"event":"Seen","timestamp":"2026-01-01T00:00:01Z"}"#.utf8)
        try await append(engine, [first], to: ["a"])
        #expect(try await append(engine, [again], to: ["a", "b"]) == [false])
        #expect(try await batch(engine, "b").events == [first])
        let queue = try await engine.statistics()["b"]
        #expect(queue?.queued == 1 && queue?.bytes == first.payload.count && queue?.oldest == now)
        // It has not failed, so no attempt is the next one.
        #expect(try await engine.records(RecordSelection(paths: ["b"])).map(\.due) == [nil])
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `dropping an event whose id contains a NUL drops no other one`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let events = ["a\0z", "a"].map { id in
            OutboxEvent(id: id, kind: EventKind("analytics/1", "track"), createdAt: now, payload: Array("{}".utf8))
        }
        try await append(engine, events, to: ["a"])
        #expect(try await engine.drop(RecordSelection(ids: ["a\0q"])) == 0)
        #expect(try await engine.drop(RecordSelection(ids: ["a\0z"])) == 1)
        #expect(try await batch(engine).entries.map(\.id) == ["a"])
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an outbox that drops the oldest neither grows nor slows down`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        let tables = try #require(engine as? SQLiteEngine)
        var costs: [Int] = []
        for round in 0..<100 {
            try await append(engine, events((round * 500 + 1)...(round * 500 + 500), bytes: 100), to: ["a"])
            let before = try await tables.steps()
            #expect(try await engine.dropOldest(50_000, of: "a").count == 500)
            costs.append(try await tables.steps() - before)
        }
        // From the 21st round on, each also deletes what is beyond the 10,000 remembered events.
        let (early, late) = (costs[20..<60].reduce(0, +), costs[60..<100].reduce(0, +))
        #expect(late * 10 < early * 11)
        #expect(try await batch(engine).isEmpty)
        let size = try await tables.pages()
        try await append(engine, events(60_001...60_001), to: ["a"])
        #expect(try await batch(engine).entries.map(\.id) == ["event-60001"])
        #expect(size < 2000, "ten thousand events are remembered, not fifty thousand")
        await engine.close()
    }
}
