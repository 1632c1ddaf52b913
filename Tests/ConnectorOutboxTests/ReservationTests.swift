// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// Callers that fill a queue at once, with an engine that does not compare it with its bound.
@Suite(.timeLimit(.minutes(1))) struct ReservationTests {
    private func bench(_ whenFull: DeliveryPolicy.WhenFull, _ engine: SteeredEngine) -> Bench {
        var policy = DeliveryPolicy()
        (policy.maximumBytes, policy.whenFull) = (250, whenFull)
        return Bench(policy: policy, engine: { () throws(ConnectorError) in engine })
    }

    @Test func `concurrent callers do not exceed the bound together`() async throws {
        let engine = try await SteeredEngine.inMemory()
        let bench = bench(.dropNewest, engine)
        let stored = try await withThrowingTaskGroup(of: [String].self) { group in
            for number in 1...8 {
                group.addTask { try await bench.outbox.append(bench.events(number...number, bytes: 100), to: ["a"]) }
            }
            while engine.storing.load(ordering: .relaxed) + bench.statistics().dropped < 8 {
                try await Task.checkedYield()
            }
            engine.mayStore.send()
            return try await group.reduce(into: 0) { $0 += $1.count }
        }
        #expect(stored == 2)
        #expect(bench.statistics().bytes == 200 && bench.statistics().dropped == 6)
        #expect(bench.outbox.state.withLock(\.reserved).isEmpty)
        await bench.outbox.close()
    }

    @Test func `a receipt learns that its event made room`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        let bench = bench(.dropOldest, engine)
        _ = try await bench.outbox.append(bench.events(1...2, bytes: 100), to: ["a"])
        let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
        var changes = receipt.changes.makeAsyncIterator()
        #expect(try await changes.next()?.state == .queued)
        _ = try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"])
        #expect(try await changes.next()?.state == .dropped)
        await bench.outbox.close()
    }

    @Test func `a waiting caller gets the room of one that could not store its event`() async throws {
        let engine = try await SteeredEngine.inMemory()
        let bench = bench(.block, engine)
        let first = Task { try await bench.outbox.append(bench.events(1...1, bytes: 200), to: ["a"]) }
        while engine.storing.load(ordering: .relaxed) < 1 { try await Task.checkedYield() }
        let second = Task { try await bench.outbox.append(bench.events(2...2, bytes: 200), to: ["a"]) }
        while bench.outbox.state.withLock({ $0.waiters.count }) < 1 { try await Task.checkedYield() }
        #expect(engine.storing.load(ordering: .relaxed) == 1)
        await engine.inner.close()
        engine.mayStore.send()
        await #expect(throws: ConnectorError.self) { try await first.value }
        await #expect(throws: ConnectorError.self) { try await second.value }
        #expect(engine.storing.load(ordering: .relaxed) == 2)
        #expect(bench.outbox.state.withLock(\.reserved).isEmpty)
        await bench.outbox.close()
    }
}
