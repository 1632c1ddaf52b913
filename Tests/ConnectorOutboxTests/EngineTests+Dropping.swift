// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxNATS
@testable import ConnectorOutboxSQLite

/// What engines know about events that were dropped.
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
}
