// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Events follow the connectors that move, and reach no other.
@Suite(.timeLimit(.minutes(5))) struct RetargetingTests {
    /// A connector of the next configuration.
    private func target(_ path: String, _ bench: Bench) -> DeliveryTarget {
        let vendor = bench.vendors[path] ?? Vendor()
        return DeliveryTarget(
            path: path,
            policy: bench.policy,
            limits: BatchLimits(),
            isUsable: { vendor.isOpen },
            send: { await vendor.take($0) }
        )
    }

    @Test func `the events of a connector that moves follow it, also those sent before it is there`() async throws {
        let bench = Bench(["a", "b"])
        bench.vendors["b"]?.isOpen = false
        try await bench.outbox.start(isStored: true)
        await bench.outbox.retarget([target("b", bench)], by: .max)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["b"])
        await bench.outbox.move("b", to: "a", by: .max)
        // Sent between the move and the new tree.
        _ = try await bench.outbox.append(bench.events(4...4), to: ["b"])
        #expect(bench.statistics("b").queued == 0 && bench.statistics().queued == 4)
        let receipt = Receipt(id: "event-4", connectors: ["b"], outcomes: [], outbox: bench.outbox)
        var changes = receipt.changes.makeAsyncIterator()
        #expect(try await changes.next()?.state == .queued)
        await bench.outbox.retarget([target("a", bench)], by: .max)
        #expect(try await changes.next()?.state == .delivered)
        await bench.drained()
        // The one that was sent after the move may overtake the others.
        #expect(bench.vendor.batches.flatMap(\.self).sorted() == (1...4).map { "event-\($0)" })
        #expect(bench.vendors["b"]?.batches.isEmpty == true)
        // Also if it is asked for when nothing but the move itself is left of the event.
        try await receipt.delivered()
        await bench.outbox.close()
    }

    @Test func `events for a connector of the next tree wait until it is there`() async throws {
        let bench = Bench(["a", "b"])
        try await bench.outbox.start(isStored: true)
        await bench.outbox.retarget([target("a", bench)], by: .max)
        // A connector that is new, or that returns.
        for path in ["b", "c"] {
            bench.outbox.expect(["a", path])
            _ = try await bench.outbox.append(bench.events(1...3), to: [path])
            #expect(bench.statistics(path).queued == 3 && bench.statistics(path).dead == 0)
            #expect(bench.outbox.orphans.isEmpty)
        }
        // One that was expected, and of which the tree after that knows nothing.
        await bench.outbox.retarget([target("a", bench)], by: .max)
        #expect(bench.statistics("b").dead == 3 && bench.statistics("c").queued == 3)
        await bench.outbox.retarget([target("a", bench), target("c", bench)], by: .max)
        await bench.until { bench.statistics("c").delivered == 3 }
        await bench.outbox.close()
    }

    @Test func `what waits at a connector that moves to a path, and back, stays until it is there`() async throws {
        let bench = Bench(["a", "b"])
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        await bench.outbox.retarget([target("a", bench)], by: .max)
        _ = try await bench.outbox.append(bench.events(1...2), to: ["a"])
        await bench.outbox.move("a", to: "b", by: .max)
        await bench.outbox.move("b", to: "a", by: .max)
        // Sent to the tree that comes next, before the outbox follows it.
        _ = try await bench.outbox.append(bench.events(3...4), to: ["a"])
        #expect(bench.statistics("a").queued == 4 && bench.statistics("a").dead == 0)
        bench.vendor.isOpen = true
        await bench.outbox.retarget([target("a", bench)], by: .max)
        await bench.until { bench.statistics("a").delivered == 4 }
        await bench.outbox.close()
    }

    @Test func `a wait that the vendor has asked for continues when the settings of the queue change`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.rateLimited, after: .seconds(40)))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        let end = await bench.paused()
        var changed = target("a", bench)
        changed.policy.batchCount = 2
        await bench.outbox.retarget([changed], by: .max)
        #expect(await bench.paused() == end)
        #expect(bench.vendor.batches.count == 1)
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.nextAttempt()
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [3, 2, 1])
        #expect(bench.pauses.reasons == ["the vendor says no", nil])
        await bench.outbox.close()
    }

    @Test func `an operator ends a wait that has continued after a change of the settings`() async throws {
        let bench = Bench()
        bench.vendor.answers(Vendor.refuses(.rateLimited, after: .seconds(40)))
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        await bench.paused()
        var changed = target("a", bench)
        changed.policy.batchCount = 2
        await bench.outbox.retarget([changed], by: .max)
        await bench.paused()
        bench.vendor.answers { .success($0.map { _ in .accepted }) }
        await bench.outbox.wake("a")
        await bench.drained()
        #expect(bench.vendor.batches.map(\.count) == [3, 2, 1])
        await bench.outbox.close()
    }

    @Test func `events moved by a process that may not deliver yet follow once it may`() async throws {
        let folder = try Folder()
        let (first, second) = (Bench(folder: folder), Bench(["a", "b"], folder: folder))
        first.vendor.isOpen = false
        try await first.outbox.start(isStored: true)
        _ = try await first.outbox.append(first.events(1...3), to: ["a"])
        try await second.outbox.start(isStored: true)
        await second.outbox.move("a", to: "b", by: .max)
        await second.outbox.retarget([target("b", second)], by: .max)
        #expect(second.statistics().queued == 3)
        await first.outbox.close()
        await second.clock.advance(toTimerAfter: .seconds(1))
        if second.statistics("b").delivered < 3 { await second.until { second.statistics("b").delivered == 3 } }
        #expect(second.vendors["b"]?.batches == [["event-1", "event-2", "event-3"]])
        #expect(second.vendor.batches.isEmpty)
        await second.outbox.close()
    }

    @Test(arguments: [true, false])
    func `events that a process with an older tree stores follow a connector that has moved, or become dead letters`(
        isMoved: Bool
    ) async throws {
        let folder = try Folder()
        let (host, sender) = (Bench(["a", "b"], folder: folder), Bench(folder: folder))
        try await host.outbox.start(isStored: true)
        if isMoved { await host.outbox.move("a", to: "b", by: .max) }
        await host.outbox.retarget([target("b", host)], by: .max)
        _ = try await sender.outbox.append(sender.events(1...3), to: ["a"])
        await host.clock.advance(toTimerAfter: .seconds(1))
        func isSettled() -> Bool { isMoved ? host.statistics("b").delivered == 3 : host.statistics("a").dead == 3 }
        if !isSettled() { await host.until(isSettled) }
        #expect(host.vendors["b"]?.batches == (isMoved ? [["event-1", "event-2", "event-3"]] : []))
        #expect(host.vendor.batches.isEmpty)
        await sender.outbox.close()
        await host.outbox.close()
    }

    @Test(arguments: [true, false], [true, false])
    func `what fails to follow a connector that has moved, or to become a dead letter, does so later`(
        isMoved: Bool,
        isShared: Bool
    ) async throws {
        let engine = try await SteeredEngine.inMemory(isShared: isShared)
        engine.mayStore.send()
        let bench = Bench(["a", "b"], engine: { () throws(ConnectorError) in engine })
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...3), to: ["a"])
        // The first look adopts the version of the store.
        await bench.clock.advance(toTimerAfter: .seconds(1))
        await bench.clock.timer(dueAfter: .seconds(1))
        if isMoved {
            // For the move, and for the next targets.
            engine.unreadable.store(2, ordering: .relaxed)
            await bench.outbox.move("a", to: "b", by: .max)
        } else {
            engine.unsettled.store(1, ordering: .relaxed)
        }
        await bench.outbox.retarget([target("b", bench)], by: .max)
        #expect(bench.statistics().queued == 3)
        await bench.clock.advance(toTimerAfter: .seconds(1))
        func isSettled() -> Bool { isMoved ? bench.statistics("b").delivered == 3 : bench.statistics().dead == 3 }
        if !isSettled() { await bench.until(isSettled) }
        #expect(bench.vendors["b"]?.batches == (isMoved ? [["event-1", "event-2", "event-3"]] : []))
        #expect(bench.vendor.batches.isEmpty)
        await bench.outbox.close()
    }
}
