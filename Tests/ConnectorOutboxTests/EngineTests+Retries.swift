// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox

/// When engines hand out events again.
extension EngineTests {
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
}
