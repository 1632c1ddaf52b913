// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Delivery to vendors that fail: what is tried again and when, what becomes a dead letter, and what an operator is told.
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
        while bench.pauses.reasons.count < 2 { await Task.yield() }
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
        while bench.vendor.batches.count < 2 { await Task.yield() }
        #expect(
            bench.outbox.condition(of: "a") == .delivering(after: DeliveryFailure(.unavailable, "the vendor says no"))
        )
        bench.vendor.resume()
        await bench.drained()
        bench.vendor.stall()
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        while bench.vendor.batches.count < 3 { await Task.yield() }
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
        while bench.vendor.batches.isEmpty { await Task.yield() }
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        let start = bench.clock.now()
        await bench.outbox.wake("a")
        bench.vendor.resume()
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1", "event-2"], ["event-1"]])
        #expect(bench.clock.now() == start)
        await bench.outbox.close()
    }

    // MARK: Events that fail by themselves

    /// Takes every event but the first, which fails by itself.
    private static let failsFirst: Vendor.Answer = { events in
        .success(events.map { $0.id == "event-1" ? .retry("not this one", code: .conflict) : .accepted })
    }

    @Test func `an event that fails by itself each time holds up no others, and its failure is told while none come`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers(Self.failsFirst)
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
        while bench.outbox.condition(of: "a") != .idle { await Task.yield() }
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
        bench.vendor.answers(Self.failsFirst)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.statistics().delivered == 1 }
        bench.vendor.answers(Vendor.refuses(.unavailable))
        await bench.clock.timers(atLeast: 2)
        bench.clock.advance(by: .seconds(1))
        await bench.paused()
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        bench.vendor.answers(Self.failsFirst)
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
        await bench.advance(by: .seconds(2)) { bench.statistics().delivered == 4 }
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
        while bench.vendor.batches.count < 3 { await Task.yield() }
        _ = try await bench.outbox.append(bench.events(3...3), to: ["a"])
        bench.vendor.resume()
        while bench.vendor.batches.count < 5 { await Task.yield() }
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
        await bench.advance(by: .seconds(2)) { bench.statistics().delivered == 4 }
        let (first, second) = (["event-1", "event-2"], ["event-3", "event-4"])
        #expect(bench.vendor.batches == [first, second, first, second, first, second])
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

    @Test func `an event that grows too old is a dead letter, also while the vendor is away`() async throws {
        var policy = DeliveryPolicy()
        policy.maximumAge = .seconds(3600)
        let bench = Bench(policy: policy)
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.until { bench.outbox.condition(of: "a") == .waitingForGate }
        await bench.clock.timers(atLeast: 2)
        await bench.advance(by: .seconds(3601)) { bench.statistics().dead == 2 }
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
        bench.vendor.answers(Self.failsFirst)
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
        while bench.outbox.condition(of: "a") != .idle { await Task.yield() }
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
        await bench.advance(by: bench.policy.longestWait) { bench.statistics().queued == 0 }
        #expect(bench.statistics().oldest == nil)
        await bench.outbox.close()
    }
}
