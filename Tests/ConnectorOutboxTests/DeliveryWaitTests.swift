// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox

/// How long a delivery waits after a failure, and the attempts of an operator, which wait for nothing.
@Suite(.timeLimit(.minutes(5))) struct DeliveryWaitTests {
    @Test func `a vendor that takes a part of a batch and asks for a wait gets the rest after it, in order`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(
                events.indices.map { index -> DeliveryAnswer in
                    switch index {
                    case 0: .accepted
                    case 1: .retry("slow down", after: .seconds(20), code: .rateLimited)
                    default: .unsent("not sent")
                    }
                }
            )
        }
        _ = try await bench.outbox.append(bench.events(1...4), to: ["a"])
        let start = bench.clock.now()
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        guard case .paused(let failure, _)? = bench.outbox.condition(of: "a") else {
            Issue.record("the delivery does not pause")
            return
        }
        #expect(failure == DeliveryFailure(.rateLimited, "slow down"))
        #expect(bench.statistics().delivered == 1 && bench.statistics().queued == 3)
        let waiting = try await bench.outbox.engine().records(RecordSelection(states: [.queued]))
        #expect(waiting.map(\.event.id) == ["event-2", "event-3", "event-4"])
        #expect(waiting.map { $0.attempts.map(\.failure) } == [[failure], [], []], "the others were not sent")
        _ = try await bench.outbox.append(bench.events(5...5), to: ["a"])
        for _ in 1...3 { await bench.nextAttempt() }
        await bench.drained()
        let batches = [1...4, 2...4, 3...4, 4...4, 5...5].map { $0.map { "event-\($0)" } }
        #expect(bench.vendor.batches == batches)
        #expect(bench.clock.now() - start == 60_000_000_000)
        #expect(bench.pauses.reasons == ["slow down", nil])
        await bench.outbox.close()
    }

    @Test func `an event that finds its vendor busy waits by itself if a later one was taken, and the delivery, too`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(events.map { $0.id == "event-1" ? .retry("slow down", after: .seconds(90)) : .accepted })
        }
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        let start = bench.clock.now()
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        #expect(bench.statistics().delivered == 1)
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"], ["event-3"]])
        #expect(bench.clock.now() - start == 90_000_000_000)
        await bench.outbox.close()
    }

    @Test func `the waits grow while batches fail in part, and begin anew once one does not`() async throws {
        let bench = Bench()
        let takesFirst: Vendor.Answer = { events in
            .success(events.indices.map { $0 == 0 ? .accepted : .retry("away") })
        }
        bench.vendor.answers(takesFirst)
        _ = try await bench.outbox.append(bench.events(1...5), to: ["a"])
        try await bench.outbox.start(isStored: true)
        func wait() async -> UInt64 {
            let start = bench.clock.now()
            await bench.nextAttempt()
            return bench.clock.now() - start
        }
        for seconds in [1, 2, 4] as [UInt64] { #expect(await wait() == seconds * 1_000_000_000) }
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        #expect(await wait() == 8_000_000_000)
        await bench.drained()
        bench.vendor.answers(takesFirst)
        _ = try await bench.outbox.append(bench.events(6...7), to: ["a"])
        #expect(await wait() == 1_000_000_000)
        #expect(bench.vendor.batches.prefix(5).map(\.count) == [5, 4, 3, 2, 1])
        await bench.outbox.close()
    }

    @Test func `a wait is at least as long as the vendor asks for`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.rateLimited, after: .seconds(600)))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let start = bench.clock.now()
        await bench.nextAttempt()
        #expect(bench.clock.now() - start == 600_000_000_000)
        await bench.outbox.close()
    }

    @Test func `a vendor that asks for more than a day is tried again after a day, and the failure says so`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(99_999_999)))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let start = bench.clock.now()
        await bench.nextAttempt()
        #expect(bench.clock.now() - start == 86_400_000_000_000)
        let reason = "the vendor says no; the vendor asks for a wait of 27777 h, and is tried again after 24 h"
        #expect(bench.pauses.reasons == [reason])
        await bench.outbox.close()
    }

    @Test func `an operator's attempt waits for no vendor, and takes events that wait on their own`() async throws {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(
                events.map { event in
                    event.id == "event-1" ? .retry("later", after: .seconds(86_000), code: .conflict) : .accepted
                }
            )
        }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(86_000)))
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        let start = bench.clock.now()
        await bench.outbox.wake("a")
        await bench.drained()
        #expect(bench.statistics().delivered == 3 && bench.clock.now() == start)
        await bench.outbox.close()
    }

    @Test(arguments: [ConnectorError.Code.unavailable, .conflict])
    func `an operator's attempt reaches the vendor, even if the last one could not be recorded yet`(
        _ code: ConnectorError.Code
    ) async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        engine.unsettled.store(1, ordering: .relaxed)
        let bench = Bench(engine: { () throws(ConnectorError) in engine })
        bench.vendor.answers { events in
            .success(
                events.map { $0.id == "event-1" ? .retry("later", after: .seconds(86_000), code: code) : .accepted }
            )
        }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.paused()
        #expect(bench.pauses.reasons == ["the disk fails: sector 7"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        let start = bench.clock.now()
        await bench.outbox.wake("a")
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"]])
        #expect(bench.clock.now() == start)
        await bench.outbox.close()
    }

    @Test func `an operator's attempt also takes an event that the attempt under way leaves to wait on its own`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(
                events.map { event in
                    event.id == "event-1" ? .retry("later", after: .seconds(86_000), code: .conflict) : .accepted
                }
            )
        }
        bench.vendor.stall()
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        while bench.vendor.batches.isEmpty { try await Task.checkedYield() }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        let start = bench.clock.now()
        await bench.outbox.wake("a")
        bench.vendor.resume()
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"]])
        #expect(bench.clock.now() == start)
        await bench.outbox.close()
    }
}
