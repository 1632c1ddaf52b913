// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// Where events are stored they are counted, and their deliveries told of them, before their callers resume.
@Suite(.timeLimit(.minutes(1))) struct StoringTests {
    /// How many events were reported to be stored.
    private final class Reports: Sendable {
        let count = Atomic(0)
    }

    /// Runs each job at once, on the thread that makes it ready.
    private final class InlineExecutor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            unsafe UnownedJob(job).runSynchronously(on: asUnownedTaskExecutor())
        }
    }

    /// An outbox whose callers are held once their events are stored.
    private func holding(_ policy: DeliveryPolicy = DeliveryPolicy()) async throws -> (SteeredEngine, Bench) {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        engine.holdsCallers.store(true, ordering: .relaxed)
        return (engine, Bench(policy: policy, engine: { () throws(ConnectorError) in engine }))
    }

    @Test func `a caller that keeps its deadline does not wait for a store to open, which later gets nothing`()
        async throws
    {
        let (asked, mayOpen) = (OneShot<Void>(), OneShot<Void>())
        let bench = Bench(engine: { () throws(ConnectorError) in
            asked.send()
            await mayOpen.wait()
            return try await SQLiteEngine(now: { .now })
        })
        let deadline = bench.clock.now() + 1_000_000_000
        let storing = Task { try await bench.outbox.append(bench.events(1...1), to: ["a"], noLaterThan: deadline) }
        await asked.wait()
        await bench.clock.advance(toTimerAfter: .seconds(1))
        let error = await #expect(throws: ConnectorError.self) { try await storing.value }
        #expect(error?.code == .timedOut && error?.fix?.hasPrefix("the event was not stored") == true)
        mayOpen.send()
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"], noLaterThan: .max)
        #expect(bench.statistics().queued == 1)
        await bench.outbox.close()
    }

    @Test(arguments: [nil, 250])
    func `a caller that keeps its deadline is told that an event on its way may still be stored`(_ bound: Int?)
        async throws
    {
        let engine = try await SteeredEngine.inMemory()
        var policy = DeliveryPolicy()
        policy.maximumBytes = bound
        let bench = Bench(policy: policy, engine: { () throws(ConnectorError) in engine })
        _ = try await bench.outbox.engine()
        let deadline = bench.clock.now() + 1_000_000_000
        let storing = Task {
            try await bench.outbox.append(bench.events(1...1, bytes: 200), to: ["a"], noLaterThan: deadline)
        }
        while engine.storing.load(ordering: .relaxed) < 1 { try await Task.checkedYield() }
        await bench.clock.advance(toTimerAfter: .seconds(1))
        let error = await #expect(throws: ConnectorError.self) { try await storing.value }
        #expect(error?.code == .timedOut && error?.isRetryable == false)
        #expect(error?.fix?.hasPrefix("the event may still be stored") == true, "\(error?.fix ?? "")")
        engine.mayStore.send()
        await bench.until { bench.statistics().queued == 1 }
        await bench.outbox.close()
    }

    @Test func `a caller that keeps its deadline is told of a full queue, which later gets nothing`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        var policy = DeliveryPolicy()
        policy.maximumBytes = 250
        let bench = Bench(policy: policy, engine: { () throws(ConnectorError) in engine })
        _ = try await bench.outbox.append(bench.events(1...1, bytes: 200), to: ["a"])
        let deadline = bench.clock.now() + 500_000_000
        let storing = Task {
            try await bench.outbox.append(bench.events(2...2, bytes: 200), to: ["a"], noLaterThan: deadline)
        }
        while bench.outbox.state.withLock({ $0.waiters.count }) < 1 { try await Task.checkedYield() }
        await bench.clock.advance(toTimerAfter: .milliseconds(500))
        let error = await #expect(throws: ConnectorError.self) { try await storing.value }
        #expect(error?.code == .timedOut && error?.isRetryable == true && error?.connector == "a")
        #expect(error?.fix?.hasPrefix("the event was not stored") == true, "\(error?.fix ?? "")")
        try await bench.outbox.start(isStored: true)
        await bench.drained()
        #expect(bench.vendor.batches == [["event-1"]])
        #expect(engine.storing.load(ordering: .relaxed) == 1)
        await bench.outbox.close()
    }

    @Test func `events are stored while a disk holds up the task that takes the right to deliver`() async throws {
        let (begun, gate) = (OneShot<Void>(), Monitor(false))
        let bench = Bench(lock: { () throws(ConnectorError) in
            begun.send()
            gate.wait { isOpen in isOpen ? .proceed(()) : .wait(until: nil) }
            return DeliveryLock()
        })
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let starting = Task(executorPreference: WorkerThreads()) { try await bench.outbox.start(isStored: true) }
        await begun.wait()
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        #expect(bench.statistics().queued == 2)
        gate.withLock { $0 = true }
        gate.signal()
        try await starting.value
        await bench.drained()
        #expect(bench.statistics().delivered == 2)
        await bench.outbox.close()
    }

    @Test func `a vendor gets an event before the caller that sent it runs again`() async throws {
        let (engine, bench) = try await holding()
        try await bench.outbox.start(isStored: true)
        let hasReturned = Atomic(false)
        let caller = Task {
            let stored = try await bench.outbox.append(bench.events(1...1), to: ["a"])
            hasReturned.store(true, ordering: .releasing)
            return stored
        }
        await bench.until { bench.statistics().delivered == 1 }
        let isEarly = !hasReturned.load(ordering: .acquiring)
        #expect(isEarly)
        #expect(bench.vendor.batches == [["event-1"]])
        engine.mayReturn.send()
        #expect(try await caller.value == ["a"])
        #expect(bench.statistics().queued == 0 && bench.statistics().delivered == 1)
        await bench.outbox.close()
    }

    @Test func `a stored event fills its queue, and holds no reservation, before its caller runs again`() async throws {
        var policy = DeliveryPolicy()
        (policy.maximumBytes, policy.whenFull) = (250, .dropNewest)
        let (engine, bench) = try await holding(policy)
        bench.vendor.isOpen = false
        let first = Task { try await bench.outbox.append(bench.events(1...1, bytes: 200), to: ["a"]) }
        await bench.until { bench.statistics().queued == 1 }
        #expect(bench.outbox.state.withLock(\.reserved).isEmpty)
        #expect(try await bench.outbox.append(bench.events(2...2, bytes: 200), to: ["a"]).isEmpty)
        #expect(bench.statistics().bytes == 200 && bench.statistics().dropped == 1)
        engine.mayReturn.send()
        #expect(try await first.value == ["a"])
        #expect(bench.statistics().bytes == 200 && bench.outbox.state.withLock(\.reserved).isEmpty)
        await bench.outbox.close()
    }

    @Test func `an outbox that closes before a caller runs again has stored and counted its event`() async throws {
        let (engine, bench) = try await holding()
        bench.vendor.isOpen = false
        let caller = Task { try await bench.outbox.append(bench.events(1...1), to: ["a"]) }
        await bench.until { bench.statistics().queued == 1 }
        await bench.outbox.close()
        engine.mayReturn.send()
        #expect(try await caller.value == ["a"])
        #expect(bench.statistics().queued == 1)
    }

    @Test func `an event that moves on before its caller runs again follows its connector`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        engine.holdsCallers.store(true, ordering: .relaxed)
        let bench = Bench(["a", "b"], engine: { () throws(ConnectorError) in engine })
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        let caller = Task { try await bench.outbox.append(bench.events(1...1), to: ["a"]) }
        while engine.held.load(ordering: .relaxed) < 1 { try await Task.checkedYield() }
        // To move an event is to store it once more.
        engine.holdsCallers.store(false, ordering: .relaxed)
        await bench.outbox.move("a", to: "b", by: .max)
        await bench.until { bench.statistics("b").delivered == 1 }
        engine.mayReturn.send()
        #expect(try await caller.value == ["a"])
        #expect(bench.statistics().queued == 0 && bench.statistics("b").queued == 0)
        #expect(bench.vendors["b"]?.batches == [["event-1"]])
        await bench.outbox.close()
    }

    @Test func `all events of a transaction are counted before the first of their callers runs again`() async throws {
        let file = SQLiteThread.File(
            open: { () throws(Database.Failure) in try OutboxTables(":memory:") },
            recover: { failure, _ throws(Database.Failure) in throw failure },
            restore: { _ in }
        )
        let thread = try await SQLiteThread(watch: StatementWatch(), file)
        let (begun, gate, executor, reports) = (OneShot<Void>(), Monitor(false), InlineExecutor(), Reports())
        let holder = Task {
            try await thread.perform(isStable: false) { _ throws(Database.Failure) in
                begun.send()
                gate.wait { isOpen in isOpen ? .proceed(()) : .wait(until: nil) }
            }
        }
        await begun.wait()
        // Each has queued its event when its task has been made, and runs again when the file's thread resumes it.
        let callers = (1...3).map { number in
            Task(executorPreference: executor) {
                _ = try await thread.store([.numbered(number)], to: ["a"]) { _ in
                    reports.count.add(1, ordering: .relaxed)
                }
                return reports.count.load(ordering: .relaxed)
            }
        }
        gate.withLock { $0 = true }
        gate.signal()
        for caller in callers { #expect(try await caller.value == 3) }
        try await holder.value
        await thread.close()
    }

    @Test func `nobody learns of an event that is not stored`() async throws {
        let engine = try await SQLiteEngine(now: { OutboxEvent.start })
        let steps = Mutex<[OutboxStep]>([])
        await engine.close()
        await #expect(throws: ConnectorError.self) {
            try await engine.append([.numbered(1)], to: ["a"]) { step in steps.withLock { $0.append(step) } }
        }
        #expect(steps.withLock(\.self) == [])
    }
}
