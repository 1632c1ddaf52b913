// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// A queue holds no more than its bound, whoever fills it at once.
@Suite(.timeLimit(.minutes(5))) struct QueueBoundTests {
    private let folder: Folder

    init() throws {
        folder = try Folder()
    }

    private func policy(_ whenFull: DeliveryPolicy.WhenFull) -> DeliveryPolicy {
        var policy = DeliveryPolicy()
        (policy.maximumBytes, policy.whenFull) = (1000, whenFull)
        return policy
    }

    @Test(arguments: [DeliveryPolicy.WhenFull.dropNewest, .dropOldest])
    func `callers of two processes never exceed the bound together`(_ whenFull: DeliveryPolicy.WhenFull) async throws {
        let benches = [
            Bench(policy: policy(whenFull), folder: folder), Bench(policy: policy(whenFull), folder: folder),
        ]
        await withTaskGroup { group in
            for (process, bench) in benches.enumerated() {
                for number in 1...40 {
                    group.addTask {
                        let event = OutboxEvent.numbered(process * 1000 + number, bytes: 100)
                        _ = try? await bench.outbox.append([event], to: ["a"])
                    }
                }
            }
        }
        let engine = try await folder.engine()
        let queue = try #require(try await engine.statistics()["a"])
        #expect((queue.queued, queue.bytes, queue.dropped) == (10, 1000, 70))
        await engine.close()
        for bench in benches {
            try await bench.outbox.refresh(bench.outbox.engine())
            #expect(bench.statistics().bytes == 1000)
            await bench.outbox.close()
        }
    }

    @Test func `a bound below zero is one of zero`() {
        let bound = QueueBound(bytes: .min, whenFull: .dropOldest)
        #expect(bound.excess(waiting: 1, adding: 2) == 3)
        #expect(bound.excess(waiting: 0, adding: 2) == 0)
    }

    @Test func `events that wait for a retry count towards the bound, and are dropped last`() async throws {
        let engine = try await folder.engine()
        let times = (0...10).map { Timestamp(nanoseconds: OutboxEvent.start.nanoseconds + $0) }
        _ = try await engine.append((1...10).map { .numbered($0, at: times[$0], bytes: 100) }, to: ["a"])
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 8), now: OutboxEvent.start)
        let failure = DeliveryFailure(.unavailable, "away")
        try await engine.settle(
            batch,
            batch.entries.map { _ in .retry(at: OutboxEvent.start) },
            Attempt(at: OutboxEvent.start, failures: batch.entries.map { _ in failure })
        )
        let bound = ["a": QueueBound(bytes: 1000, whenFull: .dropOldest)]
        let events = (11...13).map { OutboxEvent.numbered($0, bytes: 100) }
        let outcome = try #require(try await engine.append(events, to: ["a"], within: bound, { _ in }))
        #expect(outcome.dropped["a"]?.ids == ["event-9", "event-10", "event-1"])
        #expect(outcome.dropped["a"]?.oldest == times[2], "the others wait for a retry")
        let records = try await engine.records(RecordSelection(states: [.queued]))
        #expect(Set(records.map(\.event.id)) == Set((2...8).map { "event-\($0)" } + (11...13).map { "event-\($0)" }))
        #expect(try await engine.statistics()["a"]?.bytes == 1000)
        let full = try await engine.append(
            events,
            to: ["b", "a"],
            within: ["a": QueueBound(bytes: 9, whenFull: .block)],
            { _ in }
        )
        #expect(full?.full == "a")
        #expect(try await engine.statistics()["b"] == nil, "nothing was done")
        await engine.close()
    }

    @Test func `dropping the oldest reads no more than what it drops, however many wait`() async throws {
        let engine = try await SQLiteEngine(now: { OutboxEvent.start })
        func cost(_ first: Int) async throws -> Int {
            let waiting = try #require(try await engine.statistics()["a"]?.bytes)
            let bound = ["a": QueueBound(bytes: waiting, whenFull: .dropOldest)]
            let before = try await engine.steps()
            for number in first..<first + 20 {
                let event = OutboxEvent.numbered(number, bytes: 100)
                let outcome = try await engine.append([event], to: ["a"], within: bound) { _ in }
                #expect(outcome?.dropped["a"]?.ids.count == 1)
            }
            return try await engine.steps() - before
        }
        _ = try await engine.append((1...100).map { .numbered($0, bytes: 100) }, to: ["a"])
        let few = try await cost(10_001)
        _ = try await engine.append((101...5000).map { .numbered($0, bytes: 100) }, to: ["a"])
        let many = try await cost(20_001)
        #expect(many < few + few / 5, "\(few) steps before 100 events, \(many) before 5,000")
        await engine.close()
    }
}
