// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Delivery to vendors that fail: what is tried again, what becomes a dead letter, and what an operator is told.
@Suite(.timeLimit(.minutes(5))) struct DeliveryFailureTests {
    @Test func `a vendor that is away for a day gets everything when it comes back`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...10), to: ["a"])
        var waited = 0
        while bench.clock.wallTime().nanoseconds - OutboxEvent.start.nanoseconds < 86_400_000_000_000 {
            await bench.nextAttempt()
            waited += 1
        }
        #expect((1440...1500).contains(waited), "once a minute, after the first few")
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.vendor.batches.last == (1...10).map { "event-\($0)" })
        let record = try await bench.outbox.engine().records(RecordSelection(ids: ["event-1"])).first
        #expect(record?.attempts.map(\.failure?.code) == [.unavailable, nil])
        await bench.outbox.close()
    }

    @Test(arguments: [ConnectorError.Code.unauthorized, .denied, .missing, .failed, .misbehaved, .protocolViolation])
    func `no event is dropped for a failure that no event caused`(_ code: ConnectorError.Code) async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(code, isRetryable: false))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        for _ in 1...20 { await bench.nextAttempt() }
        await bench.paused()
        #expect(bench.statistics().queued == 3)
        #expect(bench.statistics().dead == 0)
        guard case .paused(let failure, _)? = bench.outbox.condition(of: "a") else {
            Issue.record("the delivery does not pause")
            return
        }
        #expect(failure == DeliveryFailure(code, "the vendor says no"))
        await bench.outbox.close()
    }

    @Test func `that deliveries fail is told once, and that they succeed again`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        for _ in 1...3 { await bench.nextAttempt() }
        await bench.paused()
        #expect(bench.pauses.reasons == ["the vendor says no"])
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        while bench.pauses.reasons.count < 2 { try await Task.checkedYield() }
        #expect(bench.pauses.reasons == ["the vendor says no", nil])
        await bench.outbox.close()
    }

    @Test func `an attempt after a failure still tells the failure, until it succeeds`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        bench.vendor.stall()
        await bench.nextAttempt()
        while bench.vendor.batches.count < 2 { try await Task.checkedYield() }
        #expect(
            bench.outbox.condition(of: "a") == .delivering(after: DeliveryFailure(.unavailable, "the vendor says no"))
        )
        bench.vendor.resume()
        await bench.drained()
        bench.vendor.stall()
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        while bench.vendor.batches.count < 3 { try await Task.checkedYield() }
        #expect(bench.outbox.condition(of: "a") == .delivering(after: nil))
        bench.vendor.resume()
        await bench.outbox.close()
    }

    @Test func `a delivery that cannot be recorded is told with the cause`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        engine.unsettled.store(1, ordering: .relaxed)
        let bench = Bench(engine: { () throws(ConnectorError) in engine })
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        await bench.paused()
        guard case .paused(let failure, _)? = bench.outbox.condition(of: "a") else {
            Issue.record("the delivery does not pause")
            return
        }
        #expect(failure == DeliveryFailure(.storage, "the disk fails: sector 7"))
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.pauses.reasons == ["the disk fails: sector 7", nil])
        #expect(bench.vendor.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `the one event that makes the vendor refuse a batch is found, and the others arrive`() async throws {
        let bench = Bench(limits: BatchLimits(count: 100))
        bench.vendor.answers(Vendor.refuses("event-37", "event-38", "event-99"))
        _ = try await bench.outbox.append(bench.events(1...200), to: ["a"])
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        let dead = try await bench.outbox.engine().records(RecordSelection(states: [.dead]))
        #expect(dead.map(\.event.id) == ["event-37", "event-38", "event-99"])
        #expect(dead.allSatisfy { $0.attempts.last?.failure == DeliveryFailure(.invalid, "bad request") })
        #expect(bench.statistics().delivered == 197)
        #expect(bench.vendor.batches.count < 60)
        await bench.outbox.close()
    }

    @Test func `each event has its own answer, and one that fails by itself waits by itself`() async throws {
        let bench = Bench()
        bench.vendor.answers { events in
            .success(
                events.map { event in
                    switch event.id {
                    case "event-1": .retry("later", after: .seconds(90), code: .conflict)
                    case "event-2": .rejected("never")
                    case "event-3": .retry("not yet", code: .failed)
                    default: .accepted
                    }
                }
            )
        }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...4), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        #expect(bench.statistics().dead == 1)
        #expect(bench.statistics().queued == 2)
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.until { bench.statistics().delivered == 2 }
        #expect(bench.vendor.batches.last == ["event-3"])
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(90))
        await bench.drained()
        #expect(bench.vendor.batches.last == ["event-1"])
        #expect(bench.pauses.reasons.isEmpty)
        await bench.outbox.close()
    }

    @Test func `one vendor that is away does not slow another`() async throws {
        let bench = Bench(["a", "b"])
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...500), to: ["a", "b"])
        await bench.drained("b")
        #expect(bench.statistics("b").delivered == 500)
        #expect(bench.statistics().queued == 500)
        await bench.outbox.close()
    }
}
