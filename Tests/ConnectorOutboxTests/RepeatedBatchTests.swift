// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Batches that failed as a whole: what is sent again, and how much at a time.
@Suite(.timeLimit(.minutes(5))) struct RepeatedBatchTests {
    @Test(arguments: [ConnectorError.Code.timedOut, .unavailable])
    func `a batch whose answer may be lost is sent again as it was, before what has arrived meanwhile`(
        _ code: ConnectorError.Code
    ) async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(code))
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        _ = try await bench.outbox.append(bench.events(4...8), to: ["a"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        let batches = [1...3, 1...3, 4...8].map { $0.map { "event-\($0)" } }
        #expect(bench.vendor.batches == batches)
        await bench.outbox.close()
    }

    @Test(arguments: [false, true])
    func `a batch is sent again as it was, even if events that wait on their own come between, and fail or do not`(
        _ fails: Bool
    ) async throws {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(events.map { $0.id == "event-3" ? .accepted : .retry("not this one", code: .conflict) })
        }
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(10)))
        _ = try await bench.outbox.append(bench.events(4...4), to: ["a"])
        await bench.paused()
        _ = try await bench.outbox.append(bench.events(5...5), to: ["a"])
        if fails {
            await bench.nextAttempt()
            await bench.paused()
        }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        let between = Array(repeating: 1...2, count: fails ? 2 : 1)
        let batches: [ClosedRange<Int>] = [1...3, 4...4] + between + [4...4, 5...5]
        #expect(bench.vendor.batches == batches.map { $0.map { "event-\($0)" } })
        await bench.outbox.close()
    }

    @Test func `an event that is due before a batch that is sent again goes alone, and the batch as it was`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(events.map { $0.id == "event-3" ? .accepted : .retry("not this one", code: .conflict) })
        }
        // Another connector has it, so it is a retry without a wait once this one is to get it.
        _ = try await bench.outbox.engine().append([.numbered(9)], to: ["b"])
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(10)))
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        _ = try await bench.outbox.append([.numbered(9)], to: ["a"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        while bench.vendor.batches.count < 4 { try await Task.checkedYield() }
        let batches = [[1, 2, 3], [1, 2], [9], [1, 2]]
        #expect(bench.vendor.batches == batches.map { $0.map { "event-\($0)" } })
        await bench.outbox.close()
    }

    @Test func `what is sent again is picked out of the retries, and nothing joins it or is cut to its size`() {
        func retries(_ numbers: ClosedRange<Int>) -> OutboxBatch {
            var batch = OutboxBatch(events: (1...6).map { .numbered($0) })
            for index in batch.entries.indices { batch.entries[index].attempts = 1 }
            return batch.part(numbers.map { $0 - 1 })
        }
        func events(_ numbers: Int...) -> [OutboxEvent] { numbers.map { .numbered($0) } }
        var progress = Delivery.Progress(count: 2)
        progress.repeated = [
            Delivery.Repetition(count: 3, positions: [2, 4, 5], waitAlone: true, isSuspect: false),
            Delivery.Repetition(count: 1, positions: [3, 6], waitAlone: true, isSuspect: true),
        ]
        let repeated = progress.part(of: retries(2...6))
        #expect(repeated.events == events(2, 4, 5))
        #expect(repeated.isFull, "nothing may join it")
        #expect(progress.part(of: retries(3...6)).events == events(3), "half of it")
        #expect(progress.part(of: retries(1...6)).events == events(1))
        progress.repeated.removeFirst()
        #expect(progress.part(of: retries(1...6)).events == events(1, 2), "as many as a new batch has")
        var new = retries(2...6)
        for index in new.entries.indices { new.entries[index].attempts = 0 }
        progress.repeated = [Delivery.Repetition(count: 3, positions: [2, 4, 5], waitAlone: true, isSuspect: false)]
        #expect(progress.part(of: new).events == events(2), "new events leave in order")
    }

    @Test func `what has arrived joins a batch that can no longer be repeated, since an event in it has grown too old`()
        async throws
    {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3600)
        let bench = Bench(policy: policy)
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(10)))
        let old = Timestamp(nanoseconds: OutboxEvent.start.nanoseconds - 3_595_000_000_000)
        _ = try await bench.outbox.append([.numbered(1, at: old), .numbered(2)], to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        _ = try await bench.outbox.append((3...5).map { .numbered($0) }, to: ["a"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        let batches = [1...2, 2...5].map { $0.map { "event-\($0)" } }
        #expect(bench.vendor.batches == batches)
        #expect(bench.statistics().dead == 1)
        await bench.outbox.close()
    }

    @Test func `a batch that times out twice is halved, and grows only if twice as many may fit the time of a call`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 100))
        let clock = bench.clock
        let seconds = Mutex(1.0)
        bench.vendor.answers { events in
            let duration = Duration.seconds(Double(events.count) * seconds.withLock(\.self))
            clock.advance(by: min(duration, .seconds(30)))
            if duration > .seconds(30) { return .failure(ConnectorError(.timedOut, "too slow", isRetryable: true)) }
            return .success(events.map { _ in .accepted })
        }
        _ = try await bench.outbox.append(bench.events(1...100), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...3 { await bench.nextAttempt() }
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [100, 100, 50, 25, 25, 25, 25])
        seconds.withLock { $0 = 0.1 }
        _ = try await bench.outbox.append(bench.events(101...275), to: ["a"])
        await bench.drained()
        #expect(bench.vendor.batches.dropFirst(7).map(\.count) == [25, 50, 100])
        await bench.outbox.close()
    }

    @Test func `a batch that ends its plugin's runner twice is halved, until the failure names the event that does`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 200))
        bench.vendor.answers { events in
            guard events.contains(where: { $0.id == "event-151" }) else {
                return .success(events.map { _ in .accepted })
            }
            var error = ConnectorError(.crashed, "the runner has ended", isRetryable: true)
            error.sending = .yes
            return .failure(error)
        }
        _ = try await bench.outbox.append(bench.events(1...200), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...10 { await bench.nextAttempt() }
        await bench.paused()
        #expect(bench.vendor.batches.map(\.count) == [200, 200, 100, 100, 100, 50, 50, 50, 25, 12, 6, 3, 1])
        #expect(bench.statistics().delivered == 150)
        guard case .paused(let failure, _)? = bench.outbox.condition(of: "a") else {
            Issue.record("the delivery does not pause")
            return
        }
        #expect(failure.code == .crashed && failure.reason.contains("event-151"), "\(failure.reason)")
        let last = try await bench.outbox.engine().records(RecordSelection(ids: ["event-151"])).first?.attempts.last
        #expect(last?.failure == failure)
        let reason = "the runner has ended"
        #expect(bench.pauses.reasons == [reason, nil, reason, nil, reason, failure.reason])
        await bench.nextAttempt()
        await bench.paused()
        #expect(bench.pauses.reasons.count == 6, "it is told once")
        #expect(try await bench.outbox.drop(RecordSelection(ids: ["event-151"], states: [.queued])) == 1)
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.statistics().delivered == 199)
        await bench.outbox.close()
    }

    @Test func `a batch that fails by itself twice is halved, until the event to blame holds up no others`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 8))
        bench.vendor.answers { events in
            guard events.contains(where: { $0.id == "event-3" }) else {
                return .success(events.map { _ in .accepted })
            }
            return .failure(ConnectorError(.failed, "not these", isRetryable: true))
        }
        _ = try await bench.outbox.append(bench.events(1...8), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...7 { await bench.nextAttempt() }
        await bench.until { bench.statistics().delivered == 7 }
        let batches = [1...8, 1...8, 1...4, 1...2, 3...6, 3...6, 3...4, 3...3, 3...3, 4...4, 5...6, 7...8]
        #expect(bench.vendor.batches == batches.map { $0.map { "event-\($0)" } })
        #expect(bench.pauses.reasons == ["not these", nil, "not these", nil])
        #expect(bench.statistics().queued == 1 && bench.statistics().dead == 0)
        await bench.outbox.close()
    }

    @Test func `a batch that takes too long at one child of a composite is halved, whatever another one answers`()
        async throws
    {
        let bench = Bench(limits: BatchLimits(count: 100))
        let clock = bench.clock
        bench.vendor.answers { events in
            clock.advance(by: .seconds(min(events.count, 30)))
            return .success(events.map { _ in events.count > 30 ? .retry("away") : .accepted })
        }
        _ = try await bench.outbox.append(bench.events(1...100), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...3 { await bench.nextAttempt() }
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [100, 100, 50, 25, 25, 25, 25])
        await bench.outbox.close()
    }

    @Test(arguments: [(0, [8, 6, 3, 3]), (2, [8, 6, 4])] as [(Int, [Int])])
    func `the rest of a batch that times out is halved if it times out again and nothing of it was taken`(
        _ taken: Int,
        _ counts: [Int]
    ) async throws {
        let bench = Bench(limits: BatchLimits(count: 8))
        let late = DeliveryAnswer.retry("too slow", code: .timedOut)
        bench.vendor.answers { events in
            let accepted = [8: 2, 6: taken][events.count] ?? events.count
            return .success(events.indices.map { $0 < accepted ? .accepted : late })
        }
        _ = try await bench.outbox.append(bench.events(1...8), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...2 { await bench.nextAttempt() }
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == counts)
        await bench.outbox.close()
    }

    @Test func `batches grow again after a split, however long each delivery takes`() async throws {
        let bench = Bench(limits: BatchLimits(count: 4))
        let clock = bench.clock
        let refuses = Vendor.refuses("event-1")
        bench.vendor.answers { events in
            clock.advance(by: .seconds(20))
            return refuses(events)
        }
        _ = try await bench.outbox.append(bench.events(1...15), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [4, 2, 1, 2, 4, 4, 4])
        await bench.outbox.close()
    }

    @Test func `batches grow again after timeouts that were not due to their size`() async throws {
        let bench = Bench(limits: BatchLimits(count: 2))
        let clock = bench.clock
        let attempts = Atomic(0)
        bench.vendor.answers { events in
            if attempts.add(1, ordering: .relaxed).newValue <= 2 {
                return .failure(ConnectorError(.timedOut, "too slow", isRetryable: true))
            }
            clock.advance(by: .seconds(20))
            return .success(events.map { _ in .accepted })
        }
        _ = try await bench.outbox.append(bench.events(1...12), to: ["a"])
        try await bench.outbox.start(isStored: true)
        for _ in 1...2 { await bench.nextAttempt() }
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [2, 2] + Array(repeating: 1, count: 8) + [2, 2])
        await bench.outbox.close()
    }
}
