// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox

/// How old events are, and what becomes of those that are too old.
@Suite(.timeLimit(.minutes(5))) struct EventAgeTests {
    @Test func `an event that grows too old is a dead letter, also while the vendor is away`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3600)
        let bench = Bench(policy: policy)
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.outbox.condition(of: "a") == .waitingForGate }
        await bench.clock.timers(atLeast: 2)
        try await bench.advance(by: .seconds(3601)) { bench.statistics().dead == 2 }
        #expect(bench.vendor.batches.isEmpty)
        let dead = try await bench.outbox.engine().records(RecordSelection())
        #expect(dead.map(\.attempts.last?.failure?.code) == [.timedOut, .timedOut])
        await bench.outbox.close()
    }

    @Test func `an event that grows too old is a dead letter, also while the wait that the vendor asks for goes on`()
        async throws
    {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.rateLimited, after: .seconds(3600)))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        let end = await bench.paused()
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(4))
        await bench.drained()
        #expect(bench.statistics().dead == 2)
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        #expect(await bench.paused() == end)
        #expect(bench.vendor.batches.count == 1)
        await bench.outbox.close()
    }

    @Test(arguments: [ConnectorError.Code.rateLimited, .conflict])
    func `an event that is retried on its own is a dead letter once it is too old, not when its retry is due`(
        _ code: ConnectorError.Code
    ) async throws {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3)
        let bench = Bench(policy: policy)
        bench.vendor.answers { events in
            .success(
                events.map { $0.id == "event-1" ? .retry("later", after: .seconds(3600), code: code) : .accepted }
            )
        }
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(4))
        await bench.drained()
        #expect(bench.statistics().dead == 1)
        #expect(bench.vendor.batches == [["event-1", "event-2"]])
        await bench.outbox.close()
    }

    @Test func `a failure of an event that waits on its own is not told once that is too old`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(10)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.failsFirst)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers { .success($0.map { _ in .retry("later", after: .seconds(3600), code: .conflict) }) }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(10))
        await bench.drained()
        #expect(bench.statistics().dead == 1)
        while bench.outbox.condition(of: "a") != .idle { try await Task.checkedYield() }
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"]])
        await bench.outbox.close()
    }

    @Test func `an event that is tried again remains the oldest while later batches overtake it`() async throws {
        let times = [3, 2, 1].map { Timestamp(nanoseconds: OutboxEvent.start.nanoseconds - $0 * 3_600_000_000_000) }
        let bench = Bench()
        let later = DeliveryAnswer.retry("later", code: .conflict)
        bench.vendor.answers { _ in .success([later, later, .accepted]) }
        _ = try await bench.outbox.append((0...2).map { .numbered($0 + 1, at: times[$0]) }, to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        for number in 4...5 {
            _ = try await bench.outbox.append([.numbered(number)], to: ["a"])
            await bench.until { bench.statistics().delivered == number - 2 }
            #expect(bench.statistics().queued == 2 && bench.statistics().oldest == times[0])
            // A reading knows the oldest event, too, but not that it is being tried again.
            try await bench.outbox.refresh(bench.outbox.engine())
        }
        try await bench.advance(by: bench.policy.longestWait) { bench.statistics().queued == 0 }
        #expect(bench.statistics().oldest == nil)
        await bench.outbox.close()
    }
}
