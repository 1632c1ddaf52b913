// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorOutbox

/// What becomes of events between the outbox and the vendor.
@Suite(.timeLimit(.minutes(5))) struct DeliveryTests {
    @Test func `events that were stored before and after the start arrive once, in order`() async throws {
        let bench = Bench(limits: BatchLimits(count: 10))
        _ = try await bench.outbox.append(bench.events(1...25), to: ["a"])
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(26...30), to: ["a"])
        await bench.drained()
        #expect(bench.vendor.batches.flatMap(\.self) == (1...30).map { "event-\($0)" })
        #expect(bench.vendor.batches.allSatisfy { $0.count <= 10 })
        await bench.outbox.close()
    }

    @Test func `a flush delivers what another process has stored since the last look`() async throws {
        let folder = try Folder()
        let bench = Bench(folder: folder)
        try await bench.outbox.start(isStored: true)
        let other = Bench(folder: folder)
        _ = try await other.outbox.append(other.events(1...3), to: ["a"])
        #expect(try await bench.outbox.flush(["a"], within: nil, isStored: true))
        #expect(bench.vendor.batches == [["event-1", "event-2", "event-3"]])
        await other.outbox.close()
        await bench.outbox.close()
    }

    @Test func `a flush in a cancelled task throws while events wait, and is true once none does`() async throws {
        let bench = Bench()
        bench.vendor.isOpen = false
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let waiting = Task { try await bench.outbox.flush(["a"], within: .seconds(5), isStored: true) }
        waiting.cancel()
        let error = await #expect(throws: ConnectorError.self) { try await waiting.value }
        #expect(error?.isCancellation == true && error?.isRetryable == false)
        #expect(try await bench.outbox.flush(["a"], within: .zero, isStored: true) == false)
        bench.vendor.isOpen = true
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        let drained = Task { try await bench.outbox.flush(["a"], within: nil, isStored: true) }
        drained.cancel()
        #expect(try await drained.value)
        #expect(try await bench.outbox.flush(["a"], within: .zero, isStored: true))
        await bench.outbox.close()
    }

    @Test func `events that a delivery had no time to send are sent next, without a wait`() async throws {
        let bench = Bench(limits: BatchLimits(count: 100))
        bench.vendor.answers { events in
            .success(
                events.indices.map { $0 < 40 ? .accepted : .retry("not sent", after: .zero, code: .timedOut) }
            )
        }
        _ = try await bench.outbox.append(bench.events(1...150), to: ["a"])
        let start = bench.clock.now()
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [100, 100, 70, 30])
        #expect(bench.vendor.batches.flatMap { $0.prefix(40) } == (1...150).map { "event-\($0)" })
        #expect(bench.clock.now() == start)
        let last = try await bench.outbox.engine().records(RecordSelection(ids: ["event-150"])).first
        #expect(last?.attempts.map(\.failure) == [nil], "it was sent once")
        await bench.outbox.close()
    }

    @Test func `nothing is sent to a gate that is not open, and everything once it is`() async throws {
        let bench = Bench()
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        await bench.until { bench.outbox.condition(of: "a") == .waitingForGate }
        #expect(bench.vendor.batches.isEmpty)
        bench.vendor.isOpen = true
        bench.outbox.gatesChanged()
        await bench.drained()
        #expect(bench.vendor.batches.count == 1)
        await bench.outbox.close()
    }

    @Test func `a full outbox blocks its caller until there is room`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumBytes = 250
        let bench = Bench(policy: policy)
        _ = try await bench.outbox.append(bench.events(1...2, bytes: 100), to: ["a"])
        let third = Task { try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"]) }
        let cancelled = Task { try await bench.outbox.append(bench.events(4...4, bytes: 100), to: ["a"]) }
        cancelled.cancel()
        await #expect(throws: ConnectorError.self) { try await cancelled.value }
        #expect(bench.statistics().queued == 2)
        try await bench.outbox.start(isStored: true)
        #expect(try await third.value == ["a"])
        await bench.drained()
        #expect(bench.statistics().delivered == 3)
        await bench.outbox.close()
    }

    @Test func `a full outbox drops the oldest or the newest events, as its policy says, and counts them`() async throws
    {
        var policy = DeliveryPolicy()
        policy.maximumBytes = 250
        policy.whenFull = .dropOldest
        let oldest = Bench(policy: policy)
        for number in 1...4 {
            _ = try await oldest.outbox.append(oldest.events(number...number, bytes: 100), to: ["a"])
        }
        #expect(oldest.statistics().queued == 2)
        #expect(oldest.statistics().dropped == 2)
        try await oldest.outbox.start(isStored: true)
        await oldest.drained()
        #expect(oldest.vendor.batches.flatMap(\.self) == ["event-3", "event-4"])
        await oldest.outbox.close()
        policy.whenFull = .dropNewest
        let newest = Bench(policy: policy)
        for number in 1...2 {
            _ = try await newest.outbox.append(newest.events(number...number, bytes: 100), to: ["a"])
        }
        #expect(try await newest.outbox.append(newest.events(3...3, bytes: 100), to: ["a"]).isEmpty)
        #expect(newest.statistics().dropped == 1)
        await newest.outbox.close()
    }

    @Test func `delivery keeps the policy's pace`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 10
        let bench = Bench(policy: policy, limits: BatchLimits(count: 5))
        _ = try await bench.outbox.append(bench.events(1...20), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 5 }
        for count in [10, 15, 20] {
            await bench.clock.timers(atLeast: 2)
            bench.clock.advance(by: .milliseconds(500))
            await bench.until { bench.statistics().delivered == count }
        }
        #expect(bench.vendor.batches.map(\.count) == [5, 5, 5, 5])
        await bench.outbox.close()
    }

    @Test func `a pace of one event in longer than time can be told waits after the first batch`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 1e-300
        let bench = Bench(policy: policy, limits: BatchLimits(count: 1))
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        await bench.clock.timers(atLeast: 2)
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `no pace is too slow or too senseless for the time that it gives to some events`() {
        let spans: [(pace: Double?, span: UInt64)] = [
            (10, 500_000_000), (nil, 0), (0, 0), (-1, 0), (.nan, 0), (.infinity, 0),
            (1e-300, 9_000_000_000_000_000_000),
        ]
        for (pace, span) in spans {
            var policy = DeliveryPolicy()
            policy.pace = pace
            #expect(policy.span(of: 5) == span, "\(String(describing: pace))")
        }
    }

    @Test func `the pace counts only the events that were sent`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 10
        let bench = Bench(policy: policy)
        bench.vendor.answers { events in
            .success(events.indices.map { $0 < 2 ? .accepted : .unsent("not sent") })
        }
        _ = try await bench.outbox.append(bench.events(1...4), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 2 }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .milliseconds(200))
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2", "event-3", "event-4"], ["event-3", "event-4"]])
        await bench.outbox.close()
    }

    @Test func `a batch has no more events than the pace allows in a second, and at least one`() {
        var policy = DeliveryPolicy()
        for (pace, count) in [(5, 5), (0.5, 1), (1e300, 500), (-1, 500), (.nan, 500)] as [(Double, Int)] {
            policy.pace = pace
            #expect(policy.limits(BatchLimits()).count == count, "\(pace)")
        }
        policy.batchCount = 3
        #expect(policy.limits(BatchLimits()).count == 3)
    }

    @Test func `a batch that the vendor does not take uses up none of the pace`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 0.001
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.unavailable))
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        let start = bench.clock.now()
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.until { bench.statistics().delivered == 1 }
        #expect(bench.vendor.batches == [["event-1"], ["event-1"]])
        #expect(bench.clock.now() - start == 1_000_000_000)
        await bench.outbox.close()
    }

    @Test func `an operator's attempt does not wait for the pace`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 0.001
        let bench = Bench(policy: policy)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        let start = bench.clock.now()
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        try await bench.looked()
        await bench.outbox.wake("a")
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1"], ["event-2"]])
        #expect(bench.clock.now() == start)
        await bench.outbox.close()
    }

    @Test func `an event that grows too old while it waits for the pace becomes a dead letter then`() async throws {
        var policy = DeliveryPolicy()
        policy.pace = 0.001
        policy.maximumAge = .seconds(100)
        let bench = Bench(policy: policy)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        try await bench.looked()
        try await bench.advance(by: .seconds(101)) { bench.statistics().dead == 1 }
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `a receipt tells what becomes of its event`() async throws {
        let bench = Bench(["a", "b"])
        bench.vendor.answers { .success($0.map { _ in .rejected("never") }) }
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a", "b"])
        let receipt = Receipt(id: "event-1", connectors: ["a", "b"], outcomes: [], outbox: bench.outbox)
        async let changes = receipt.changes.reduce(into: [DeliveryChange]()) { $0.append($1) }
        async let error = #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        try await bench.outbox.start(isStored: true)
        let final = await changes.filter(\.state.isFinal)
        #expect(Dictionary(final.map { ($0.connector, $0.state) }) { $1 } == ["a": .dead, "b": .delivered])
        let thrown = await error
        #expect(thrown?.code == .partial)
        #expect(thrown?.outcomes.map(\.isSuccess) == [false, true])
        #expect(thrown?.outcomes.first?.error?.message == "never")
        // Also if it is asked for afterwards.
        let late = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        #expect(late?.code == .partial)
        await bench.outbox.close()
    }

    @Test func `a receipt that is asked after its host has closed does not call a delivered event undelivered`()
        async throws
    {
        let bench = Bench()
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        try await bench.outbox.start(isStored: true)
        let receipt = Receipt(id: "event-1", connectors: ["a"], dropped: ["b"], outcomes: [], outbox: bench.outbox)
        await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        await bench.drained()
        await bench.outbox.close()
        let error = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        #expect(error?.code == .notOpen && error?.isRetryable == false)
        #expect(error?.message == "whether the event event-1 was delivered to a is not known: the host has closed")
        #expect(error?.outcomes.map(\.connector) == ["a", "b"])
    }

    @Test func `waiting for a receipt ends at its limit, and the event stays safe`() async throws {
        let bench = Bench()
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
        async let error = #expect(throws: ConnectorError.self) { try await receipt.delivered(within: .seconds(5)) }
        await bench.clock.advance(toTimerAfter: .seconds(5))
        #expect(await error?.code == .timedOut)
        #expect(bench.statistics().queued == 1)
        await bench.outbox.close()
    }

    @Test func `waiting for a receipt in a task that is cancelled ends with an error that is not retryable`()
        async throws
    {
        let bench = Bench()
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
        let task = Task { await #expect(throws: ConnectorError.self) { try await receipt.delivered() } }
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.isRetryable == false)
        await bench.outbox.close()
    }

    @Test func `waiting for a receipt ends with the error of an outbox that cannot be read`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        let bench = Bench(engine: { () throws(ConnectorError) in engine })
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
        engine.unreadable.store(1, ordering: .relaxed)
        let error = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        #expect(error?.code == .storage)
        await bench.outbox.close()
    }

    @Test func `the oldest waiting event is known even if the vendor took none, or only later ones`() async throws {
        let earlier = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds - 3_600_000_000_000)
        for isAway in [true, false] {
            let bench = Bench()
            let takesSecond: Vendor.Answer = { _ in .success([.retry("later"), .accepted]) }
            bench.vendor.answers(isAway ? Vendor.refuses(.unavailable) : takesSecond)
            _ = try await bench.outbox.append([.numbered(1, at: earlier), .numbered(2)], to: ["a"])
            try await bench.outbox.start(isStored: true)
            if isAway { await bench.paused() } else { await bench.until { bench.statistics().delivered == 1 } }
            #expect(bench.vendor.batches.first?.count == 2)
            #expect(bench.statistics().oldest == earlier)
            await bench.outbox.close()
        }
    }

    @Test func `events that another process adds or leaves behind are delivered`() async throws {
        let folder = try Folder()
        let (first, second) = (Bench(folder: folder), Bench(folder: folder))
        try await first.outbox.start(isStored: true)
        try await second.outbox.start(isStored: true)
        _ = try await second.outbox.append(second.events(1...2), to: ["a"])
        await first.clock.advance(toTimerAfter: .seconds(1))
        await first.drained()
        if first.statistics().delivered < 2 { await first.until { first.statistics().delivered == 2 } }
        #expect(second.vendor.batches.isEmpty)
        await first.outbox.close()
        _ = try await second.outbox.append(second.events(3...3), to: ["a"])
        await second.clock.advance(toTimerAfter: .seconds(1))
        if second.statistics().delivered < 3 { await second.until { second.statistics().delivered == 3 } }
        #expect(second.vendor.batches == [["event-3"]])
        await second.outbox.close()
    }
}
