// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Testing

@testable import ConnectorOutbox

/// How long a batch with room waits for more events; the clock stands still unless a test moves it.
@Suite(.timeLimit(.minutes(3))) struct BatchFillingTests {
    /// An outbox whose batches wait for an hour.
    private func bench(_ limits: BatchLimits) async throws -> Bench {
        var policy = DeliveryPolicy()
        policy.batchAge = .seconds(3600)
        let bench = Bench(policy: policy, limits: limits)
        try await bench.outbox.start(isStored: true)
        return bench
    }

    private func append(
        _ numbers: ClosedRange<Int>,
        _ bench: Bench,
        bytes: Int = 20,
        capability: String = "analytics/1"
    )
        async throws
    {
        for number in numbers {
            let event = OutboxEvent.numbered(number, at: bench.clock.wallTime(), capability: capability, bytes: bytes)
            _ = try await bench.outbox.append([event], to: ["a"])
        }
    }

    @Test func `full batches leave at once, and the remaining events wait for the batch age`() async throws {
        let bench = try await bench(BatchLimits(count: 5))
        try await append(1...12, bench)
        await bench.until { bench.statistics().delivered == 10 }
        #expect(bench.vendor.batches.map(\.count) == [5, 5])
        await bench.clock.timers(atLeast: 2)
        try await bench.advance(by: .seconds(3600)) { bench.statistics().delivered == 12 }
        #expect(bench.vendor.batches.map(\.count) == [5, 5, 2])
        await bench.outbox.close()
    }

    @Test func `events that arrive one by one while a batch waits fill it`() async throws {
        let bench = try await bench(BatchLimits(count: 3))
        for number in 1...2 {
            try await append(number...number, bench)
            await bench.clock.timers(atLeast: 2)
        }
        #expect(bench.vendor.batches.isEmpty)
        try await append(3...3, bench)
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2", "event-3"]])
        await bench.outbox.close()
    }

    @Test(arguments: [(303, 3), (302, 2), (250, 2), (202, 2), (201, 1), (50, 1)])
    func `a batch that is full by bytes leaves at once`(_ bytes: Int, _ count: Int) async throws {
        let bench = try await bench(BatchLimits(count: 500, bytes: bytes))
        // Each has 101 bytes, including its separator.
        try await append(1...(2 * count + 1), bench, bytes: 100)
        while bench.statistics().delivered < 2 * count {
            await bench.until { bench.statistics().delivered >= 2 * count }
        }
        #expect(bench.vendor.batches.prefix(2).map(\.count) == [count, count])
        await bench.outbox.close()
    }

    @Test func `a batch that the next event cannot join does not wait`() async throws {
        let bench = try await bench(BatchLimits(count: 500))
        _ = try await bench.outbox.append(
            [
                .numbered(1, at: bench.clock.wallTime()), .numbered(2, at: bench.clock.wallTime()),
                .numbered(3, at: bench.clock.wallTime(), capability: "crash/1"),
            ],
            to: ["a"]
        )
        await bench.until { bench.statistics().delivered == 2 }
        #expect(bench.vendor.batches == [["event-1", "event-2"]])
        await bench.outbox.close()
    }

    @Test func `events that a full batch had no time to send wait for no others`() async throws {
        let bench = try await bench(BatchLimits(count: 10))
        bench.vendor.answers { events in
            .success(events.indices.map { $0 < 4 ? .accepted : .unsent("not sent") })
        }
        try await append(1...10, bench)
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [10, 6, 2])
        await bench.outbox.close()
    }

    @Test func `a gate that closes while a batch fills is waited for, and gets the batch at its age`() async throws {
        let bench = try await bench(BatchLimits(count: 500))
        try await append(1...1, bench)
        await bench.clock.timers(atLeast: 2)
        bench.vendor.isOpen = false
        bench.outbox.gatesChanged()
        await bench.until { bench.outbox.condition(of: "a") == .waitingForGate }
        bench.vendor.isOpen = true
        bench.outbox.gatesChanged()
        await bench.until { bench.outbox.condition(of: "a") == .idle }
        #expect(bench.vendor.batches.isEmpty, "nothing leaves early")
        try await bench.advance(by: .seconds(3600)) { bench.statistics().delivered == 1 }
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `a gate that reopens does not end a pause that the vendor asked for`() async throws {
        let bench = try await bench(BatchLimits(count: 1))
        bench.vendor.answers(Vendor.refuses(.rateLimited, after: .seconds(600)))
        try await append(1...1, bench)
        await bench.paused()
        for isOpen in [false, true] {
            bench.vendor.isOpen = isOpen
            bench.outbox.gatesChanged()
        }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        let start = bench.clock.now()
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.clock.now() - start == 600_000_000_000)
        #expect(bench.vendor.batches.count == 2)
        await bench.outbox.close()
    }
}
