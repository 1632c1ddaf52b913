// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox

/// Events that fail by themselves, while their vendor takes others.
@Suite(.timeLimit(.minutes(5))) struct FailingEventTests {
    @Test func `an event that fails by itself each time holds up no others, and its failure is told while none come`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers(Vendor.failsFirst)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        guard case .paused(let failure, _)? = bench.outbox.condition(of: "a") else {
            Issue.record("the failure is not told")
            return
        }
        #expect(failure == DeliveryFailure(.conflict, "not this one"))
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        await bench.until { bench.statistics().delivered == 2 }
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"], ["event-3"]])
        while bench.outbox.condition(of: "a") != .idle { try await Task.checkedYield() }
        #expect(bench.pauses.reasons.isEmpty)
        await bench.outbox.close()
    }

    @Test func `of events that wait on their own, the first that is tried again is told as the next attempt`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(
                events.map { event in
                    switch event.id {
                    case "event-1": .retry("later", after: .seconds(5), code: .conflict)
                    case "event-2": .retry("not this one", code: .conflict)
                    default: .accepted
                    }
                }
            )
        }
        let start = bench.clock.wallTime().nanoseconds
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        #expect(await bench.paused().nanoseconds - start == 3_000_000_000)
        await bench.nextAttempt()
        #expect(await bench.paused().nanoseconds - start == 5_000_000_000, "the second event waits for seven")
        #expect(bench.vendor.batches == [["event-1", "event-2", "event-3"], ["event-2"], ["event-2"]])
        await bench.outbox.close()
    }

    @Test func `an event that fails by itself each time holds up no others after an outage, either`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.failsFirst)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers(Vendor.refuses(.unavailable))
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        bench.vendor.answers(Vendor.failsFirst)
        await bench.nextAttempt()
        await bench.until { bench.statistics().delivered == 2 }
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"], ["event-1"], ["event-3"]])
        await bench.outbox.close()
    }

    @Test(arguments: [false, true])
    func `an event that fails by itself with none beside it holds up no others from its second failure on`(
        _ isWhole: Bool
    ) async throws {
        let bench = Bench(limits: BatchLimits(count: 1))
        bench.vendor.answers { events in
            guard events.map(\.id) == ["event-1"] else { return .success(events.map { _ in .accepted }) }
            if isWhole { return .failure(ConnectorError(.conflict, "not this one")) }
            return .success([.retry("not this one", code: .conflict)])
        }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        await bench.nextAttempt()
        await bench.until { bench.statistics().delivered == 2 }
        #expect(bench.vendor.batches == [["event-1"], ["event-1"], ["event-2"], ["event-3"]])
        #expect(bench.pauses.reasons == ["not this one", nil])
        await bench.outbox.close()
    }

    @Test func `a vendor at which all new events fail by themselves is asked twice between two pauses at most`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 1))
        bench.vendor.answers { .success($0.map { _ in .retry("not now", code: .failed) }) }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.paused()
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.nextAttempt()
        await bench.paused()
        #expect(bench.vendor.batches == [["event-1"], ["event-1"], ["event-2"]])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.statistics().delivered == 2)
        await bench.outbox.close()
    }

    @Test func `events that wait on their own and fail together as a batch hold up no others, and stay together`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(events.map { $0.id == "event-3" ? .accepted : .retry("not this one", code: .conflict) })
        }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers { events in
            events.contains { $0.id == "event-1" }
                ? .failure(ConnectorError(.conflict, "not these")) : .success(events.map { _ in .accepted })
        }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        _ = try await bench.outbox.append(bench.events(4...4), to: ["a"])
        await bench.until { bench.statistics().delivered == 2 }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        try await bench.advance(by: .seconds(2)) { bench.statistics().delivered == 4 }
        let pair = ["event-1", "event-2"]
        #expect(bench.vendor.batches == [pair + ["event-3"], pair, ["event-4"], pair])
        await bench.outbox.close()
    }

    @Test func `new events come before others that wait on their own and are due, once one of these has failed again`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 1))
        bench.vendor.answers { .success($0.map { _ in .rejected("no") }) }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().dead == 2 }
        bench.vendor.answers { events in
            .success(events.map { $0.id == "event-3" ? .accepted : .retry("not this one", code: .failed) })
        }
        bench.vendor.stall()
        #expect(try await bench.outbox.replay(RecordSelection()).count == 2)
        while bench.vendor.batches.count < 3 { try await Task.checkedYield() }
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        bench.vendor.resume()
        while bench.vendor.batches.count < 5 { try await Task.checkedYield() }
        #expect(bench.vendor.batches == [1, 2, 1, 3, 2].map { ["event-\($0)"] })
        await bench.outbox.close()
    }

    @Test func `a vendor at which all letters that were put back fail by themselves is not asked without a pause`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 2))
        bench.vendor.answers { .success($0.map { _ in .rejected("no") }) }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...4), to: ["a"])
        await bench.until { bench.statistics().dead == 4 }
        bench.vendor.answers { .success($0.map { _ in .retry("not now", code: .failed) }) }
        #expect(try await bench.outbox.replay(RecordSelection()).count == 4)
        await bench.paused()
        #expect(bench.pauses.reasons == ["not now"])
        #expect(bench.vendor.batches.count == 4)
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        try await bench.advance(by: .seconds(2)) { bench.statistics().delivered == 4 }
        let (first, second) = (["event-1", "event-2"], ["event-3", "event-4"])
        #expect(bench.vendor.batches == [first, second, first, second, first, second])
        await bench.outbox.close()
    }
}
