// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorOutbox

/// The statistics are right, in whatever order the engine's answers come.
@Suite(.timeLimit(.minutes(5))) struct StatisticsTrackerTests {
    private static let appended = StatisticsTracker.Change.appended(count: 1, bytes: 10, oldest: OutboxEvent.start)

    private func reading(_ revision: UInt64, queued: Int) -> OutboxReading {
        var queue = QueueStatistics()
        (queue.queued, queue.bytes) = (queued, 10 * queued)
        return OutboxReading(revision: revision, statistics: ["a": queue])
    }

    /// The reading is the second of three steps; the answers come in every order.
    @Test(arguments: [[1, 2, 3], [1, 3, 2], [2, 1, 3], [2, 3, 1], [3, 1, 2], [3, 2, 1]])
    func `every event is counted once`(order: [UInt64]) {
        var statistics = StatisticsTracker()
        statistics.begin()
        for revision in order {
            if revision == 2 {
                statistics.end(reading(2, queued: 1))
            } else {
                statistics.note(Self.appended, of: "a", revision: revision)
            }
        }
        #expect(statistics["a"]?.queued == 2)
        #expect(statistics["a"]?.bytes == 20)
    }

    /// A delivery may take an event, and settle it, before the caller that stored it has the engine's answer.
    @Test func `an event whose delivery is noted before its arrival is no longer waiting`() {
        let settled = StatisticsTracker.Change.settled(
            delivered: 1,
            dead: 0,
            dropped: 0,
            bytes: 10,
            oldest: OutboxEvent.start,
            at: OutboxEvent.start
        )
        var statistics = StatisticsTracker()
        statistics.note(settled, of: "a", revision: 2)
        #expect(statistics["a"]?.queued == 0)
        #expect(statistics["a"]?.bytes == 0)
        statistics.note(Self.appended, of: "a", revision: 1)
        #expect(statistics["a"]?.queued == 0)
        #expect(statistics["a"]?.bytes == 0)
        #expect(statistics["a"]?.oldest == nil)
        #expect(statistics["a"]?.delivered == 1)
        let later = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + 1)
        statistics.note(.appended(count: 1, bytes: 10, oldest: later), of: "a", revision: 3)
        #expect(statistics["a"]?.oldest == later)
    }

    /// The readings follow each other so closely that one of them is always under way.
    @Test func `what a reading includes is not kept for the next ones`() {
        var statistics = StatisticsTracker()
        statistics.begin()
        for round in 1...100 as ClosedRange<UInt64> {
            statistics.note(Self.appended, of: "a", revision: 2 * round - 1)
            statistics.begin()
            statistics.end(reading(2 * round, queued: Int(round)))
            #expect(statistics.recent.isEmpty)
        }
        #expect(statistics["a"]?.queued == 100)
    }

    /// Of two events that are tried again, one leaves the queue; a batch of later events follows, and makes room.
    @Test func `the oldest event is the oldest of the retried ones and the ones that follow`() {
        let times = (0...3).map { Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + $0) }
        func change(
            delivered: Int,
            dropped: Int = 0,
            _ oldest: Int? = nil,
            tried: [Int],
            stay: [Int] = []
        ) -> StatisticsTracker.Change {
            .settled(
                delivered: delivered,
                dead: 0,
                dropped: dropped,
                bytes: 10 * (delivered + dropped),
                oldest: oldest.map { times[$0] },
                tried: tried.map { times[$0] },
                stay: stay.map { times[$0] },
                at: OutboxEvent.start
            )
        }
        var statistics = StatisticsTracker()
        statistics.note(.appended(count: 6, bytes: 60, oldest: times[0]), of: "a", revision: 1)
        statistics.note(change(delivered: 1, 2, tried: [0, 1, 2], stay: [0, 1]), of: "a", revision: 2)
        #expect(statistics["a"]?.oldest == times[0])
        statistics.note(change(delivered: 0, tried: [0], stay: [0]), of: "a", revision: 3)
        #expect(statistics["a"]?.oldest == times[0])
        statistics.note(change(delivered: 1, tried: [0]), of: "a", revision: 4)
        statistics.note(change(delivered: 1, 3, tried: [3]), of: "a", revision: 5)
        #expect(statistics["a"]?.oldest == times[1])
        statistics.note(change(delivered: 1, tried: [1]), of: "a", revision: 6)
        #expect(statistics["a"]?.oldest == times[3])
        statistics.note(change(delivered: 0, dropped: 1, 3, tried: []), of: "a", revision: 7)
        #expect(statistics["a"]?.oldest == times[3])
    }

    /// Settles the next event of connector `a`, which the outbox does not deliver itself.
    private func settleNext(_ outcome: DeliveryOutcome, _ bench: Bench) async throws {
        let engine = try await bench.outbox.engine()
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 1), now: OutboxEvent.start)
        let failures = [outcome == .delivered ? nil : DeliveryFailure(.unavailable, "away")]
        let step = try await engine.settle(batch, [outcome], Attempt(at: OutboxEvent.start, failures: failures))
        bench.outbox.settled(batch, [outcome], failures, step)
    }

    @Test func `an event whose retry succeeds is no longer the oldest, even if no other is tried`() async throws {
        let bench = Bench()
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        try await settleNext(.retry(at: OutboxEvent.start), bench)
        bench.clock.advance(by: .nanoseconds(1))
        let later = bench.clock.wallTime()
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        #expect(bench.statistics().oldest == OutboxEvent.start)
        try await settleNext(.delivered, bench)
        #expect(bench.statistics().delivered == 1)
        #expect(bench.statistics().oldest == later)
        await bench.outbox.close()
    }

    @Test func `an event that waits for a retry remains the oldest while later ones make room`() async throws {
        var policy = DeliveryPolicy()
        (policy.maximumBytes, policy.whenFull) = (300, .dropOldest)
        let bench = Bench(policy: policy)
        _ = try await bench.outbox.append(bench.events(1...1, bytes: 100), to: ["a"])
        try await settleNext(.retry(at: OutboxEvent.start), bench)
        for number in 2...4 {
            bench.clock.advance(by: .nanoseconds(1))
            _ = try await bench.outbox.append(bench.events(number...number, bytes: 100), to: ["a"])
        }
        #expect(bench.statistics().dropped == 1)
        #expect(bench.statistics().oldest == OutboxEvent.start)
        bench.clock.advance(by: .nanoseconds(1))
        _ = try await bench.outbox.append(bench.events(5...6, bytes: 100), to: ["a"])
        #expect(bench.statistics().dropped == 3)
        #expect(bench.statistics().oldest == OutboxEvent.start)
        await bench.outbox.close()
    }

    @Test func `an earlier reading does not undo a later one`() {
        var statistics = StatisticsTracker()
        statistics.begin()
        statistics.begin()
        statistics.note(Self.appended, of: "a", revision: 2)
        statistics.end(reading(3, queued: 1))
        statistics.note(Self.appended, of: "a", revision: 4)
        statistics.end(reading(1, queued: 0))
        #expect(statistics["a"]?.queued == 2)
    }

    @Test func `the largest counts saturate`() {
        var statistics = StatisticsTracker()
        var most = QueueStatistics()
        (most.queued, most.bytes, most.dead, most.delivered, most.dropped) = (.max, .max, .max, .max, .max)
        statistics.begin()
        statistics.end(OutboxReading(revision: 1, statistics: ["a": most]))
        statistics.note(.appended(count: 1, bytes: 1, oldest: nil), of: "a", revision: 2)
        #expect(statistics["a"]?.queued == .max && statistics["a"]?.bytes == .max)
        let change = StatisticsTracker.Change.settled(
            delivered: 1,
            dead: 1,
            dropped: 1,
            bytes: 1,
            oldest: nil,
            at: OutboxEvent.start
        )
        statistics.note(change, of: "a", revision: 3)
        #expect(statistics["a"]?.dead == .max && statistics["a"]?.queued == .max - 3)
    }

    @Test func `a reading that failed changes nothing`() {
        var statistics = StatisticsTracker()
        statistics.begin()
        statistics.note(Self.appended, of: "a", revision: 1)
        statistics.end(nil)
        #expect(statistics["a"]?.queued == 1)
        #expect(statistics["b"] == nil)
    }

    @Test func `events that an operator drops while they are delivered leave the queue once`() async throws {
        let bench = Bench()
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        let engine = try await bench.outbox.engine()
        // Dropped, and the queue read again, after the batch was read and before it is settled.
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(try await engine.drop(RecordSelection(ids: ["event-2"])) == 1)
        try await bench.outbox.refresh(engine)
        #expect(bench.statistics().queued == 2)
        let attempt = Attempt(at: OutboxEvent.start, failures: [nil, nil, nil])
        let step = try await engine.settle(batch, [.delivered, .delivered, .delivered], attempt)
        #expect(step.isApplied == [true, false, true])
        await bench.outbox.close()
    }

    @Test func `events that find no room stay counted as dropped`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumBytes = 100
        policy.whenFull = .dropNewest
        let bench = Bench(policy: policy)
        #expect(try await bench.outbox.append(bench.events(1...1, bytes: 90), to: ["a"]) == ["a"])
        #expect(try await bench.outbox.append(bench.events(2...3, bytes: 90), to: ["a"]).isEmpty)
        #expect(bench.statistics().dropped == 2)
        try await bench.outbox.refresh(bench.outbox.engine())
        #expect(bench.statistics().dropped == 2)
        await bench.outbox.close()
    }
}
