// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS
@testable import ConnectorOutboxSQLite

/// How engines drop events, and what they know about those.
extension EngineTests {
    @Test(arguments: Kind.usable)
    func `waiting events are dropped by id and by age`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...5, bytes: 100), to: ["a", "b"])
        #expect(try await engine.drop(RecordSelection(paths: ["a"], ids: ["event-2"])) == 1)
        try await wait(engine) { $0["a"]?.queued == 4 && $0["b"]?.queued == 5 }
        #expect(try await engine.dropOldest(150, of: "a") == ["event-1", "event-3"])
        #expect(try await batch(engine).entries.map(\.id) == ["event-4", "event-5"])
        var queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.dropped) == (2, 3))
        #expect(kind.countsBytes ? queue.bytes == 200 : queue.bytes >= 200)
        try await settle(engine, try await batch(engine), .delivered)
        queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.delivered) == (0, 0, 2))
        #expect(try await batch(engine, "b").entries.count == 5)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `an event that made room, or that an operator dropped, is dropped and not delivered`(_ kind: Kind) async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a", "b"])
        #expect(try await engine.dropOldest(10, of: "a") == ["event-1"])
        #expect(try await engine.drop(RecordSelection(paths: ["a"], ids: ["event-2"])) == 1)
        let records = try await engine.records(RecordSelection(paths: ["a"], ids: ["event-1", "event-2", "event-3"]))
        let states = Dictionary(records.map { ($0.event.id, $0.state) }) { first, _ in first }
        #expect(states == ["event-1": .dropped, "event-2": .dropped, "event-3": .queued])
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events that are dropped at one connector stay as they are at another one, which is delivering them`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a", "b"])
        let taken = try await batch(engine)
        #expect(taken.entries.count == 3)
        #expect(try await engine.drop(RecordSelection(paths: ["b"], states: [.queued])) == 3)
        try await settle(engine, taken, .delivered)
        let statistics = try await engine.statistics()
        #expect(statistics["a"]?.queued == 0 && statistics["a"]?.delivered == 3)
        #expect(statistics["b"]?.queued == 0 && statistics["b"]?.dropped == 3)
        #expect(try await batch(engine).isEmpty)
        #expect(try await batch(engine, "b").isEmpty)
        await engine.close()
    }

    @Test(arguments: Kind.usable)
    func `events delivered past one that waits are neither queued nor dropped`(_ kind: Kind) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3), to: ["a"])
        let later = Timestamp(nanoseconds: now.nanoseconds + 3_600_000_000_000)
        let failures = [DeliveryFailure(.unavailable, "away"), nil, nil]
        let attempt = Attempt(at: now, failures: failures)
        try await engine.settle(try await batch(engine), [.retry(at: later), .delivered, .delivered], attempt)
        let queued = RecordSelection(paths: ["a"], states: [.queued])
        #expect(try await engine.records(queued).map(\.event.id) == ["event-1"])
        #expect(try await engine.drop(queued) == 1)
        #expect(try await engine.statistics()["a"]?.dropped == 1)
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an event that was dropped before its turn, and is stored for its connector again, has its place again`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...3, bytes: 100), to: ["a"])
        #expect(try await engine.drop(RecordSelection(ids: ["event-2"])) == 1)
        let dropped = events(2...2, bytes: 100)
            .map { OutboxRecord(path: "a", event: $0, state: .dropped, attempts: []) }
        for _ in 1...2 { try await engine.store(dropped, alsoFor: "a") }
        #expect(try await engine.statistics()["a"]?.bytes == 300)
        let all = try await batch(engine)
        #expect(all.events == events(1...3, bytes: 100))
        try await settle(engine, all, .delivered)
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.delivered) == (0, 0, 3))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an event that is stored again while those around it are delivered is not passed over`(
        _ kind: Kind
    ) async throws {
        let engine = try await engine(kind)
        try await append(engine, events(1...4, bytes: 100), to: ["a"])
        #expect(try await engine.drop(RecordSelection(ids: ["event-2", "event-3"])) == 2)
        let sent = try await batch(engine)
        #expect(sent.entries.map(\.id) == ["event-1", "event-4"])
        try await engine.store(
            [OutboxRecord(path: "a", event: .numbered(3, bytes: 100), state: .dropped, attempts: [])],
            alsoFor: "a"
        )
        try await settle(engine, sent, .delivered)
        var queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.delivered) == (1, 100, 2))
        let left = try await batch(engine)
        #expect(left.entries.map(\.id) == ["event-3"])
        try await settle(engine, left, .delivered)
        // Nothing is left, and the counts agree: otherwise this would throw.
        #expect(try await batch(engine).isEmpty)
        queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.delivered) == (0, 0, 3))
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `dropped events are known as such, whatever they waited for, and are not delivered`(_ kind: Kind) async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...4), to: ["a", "b"])
        let failure = DeliveryFailure(.unavailable, "away")
        try await engine.settle(
            try await batch(engine, "a", BatchLimits(count: 3)),
            [.dead, .retry(at: now), .delivered],
            Attempt(at: now, failures: [failure, failure, nil])
        )
        #expect(try await engine.drop(RecordSelection(paths: ["a"])) == 3)
        let dropped = try await engine.records(RecordSelection(states: [.dropped]))
        #expect(dropped.map(\.event.id) == ["event-1", "event-2", "event-4"])
        #expect(dropped.allSatisfy { $0.path == "a" && $0.state == .dropped })
        #expect(dropped.map { $0.attempts.count } == [1, 1, 0])
        let ids: Set = ["event-3"]
        #expect(try await engine.records(RecordSelection(paths: ["a"], ids: ids)).map(\.state) == [.delivered])
        #expect(try await engine.records(RecordSelection(paths: ["a"])).count == 4)
        #expect(try await batch(engine, "b").entries.count == 4, "another connector's events are its own")
        await engine.close()
    }

    @Test(arguments: Kind.exact)
    func `an event dropped long after its followers were forgotten counts as dropped, not delivered`(_ kind: Kind)
        async throws
    {
        let engine = try await engine(kind)
        try await append(engine, events(1...12_500), to: ["a", "b"])
        let later = Timestamp(nanoseconds: now.nanoseconds + 3_600_000_000_000)
        try await settle(engine, try await batch(engine, "a", BatchLimits(count: 1)), .retry(at: later))
        try await settle(engine, try await batch(engine, "b", BatchLimits(count: 1)), .dead)
        for path in ["a", "b"] {
            while true {
                let next = try await batch(engine, path)
                if next.isEmpty { break }
                try await settle(engine, next, .delivered)
            }
        }
        let ids: Set = ["event-1"]
        #expect(try await engine.drop(RecordSelection(paths: ["a"], ids: ids)) == 1)
        let records = try await engine.records(RecordSelection(ids: ids))
        #expect(records.map { "\($0.path) \($0.state)" } == ["a dropped", "b dead"])
        #expect(try await engine.drop(RecordSelection(ids: ids)) == 1)
        #expect(try await engine.records(RecordSelection(ids: ids)).isEmpty, "nothing needs it anymore")
        #expect(try await engine.records(RecordSelection(states: [.dropped])).isEmpty)
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
