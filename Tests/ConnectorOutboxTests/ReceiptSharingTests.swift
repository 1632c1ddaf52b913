// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

/// What receipts tell about events that another process takes care of.
@Suite(.timeLimit(.minutes(5))) struct ReceiptSharingTests {
    /// Subscribes to an event that waits.
    private func changes(
        _ number: Int,
        _ bench: Bench
    ) async throws -> AsyncStream<DeliveryChange>.AsyncIterator {
        let (stream, continuation) = AsyncStream.makeStream(of: DeliveryChange.self)
        bench.outbox.follow("event-\(number)", at: ["a"], continuation)
        var changes = stream.makeAsyncIterator()
        #expect(await changes.next()?.state == .queued)
        return changes
    }

    @Test func `a receipt learns what another process has delivered, refused and dropped`() async throws {
        let folder = try Folder()
        let (host, sender) = (Bench(folder: folder), Bench(folder: folder))
        host.vendor.answers { .success($0.map { $0.id == "event-2" ? .rejected("never") : .accepted }) }
        try await host.outbox.start(isStored: true)
        _ = try await sender.outbox.append(sender.events(1...2), to: ["a"])
        var (first, second) = (try await changes(1, sender), try await changes(2, sender))
        await host.clock.advance(toTimerAfter: .seconds(1))
        if host.statistics().dead == 0 { await host.until { host.statistics().dead == 1 } }
        await sender.clock.advance(toTimerAfter: .seconds(1))
        #expect(await first.next()?.state == .delivered)
        let refusal = await second.next()
        #expect(refusal?.state == .dead)
        #expect(refusal?.error?.message == "never")
        for end in [await first.next(), await second.next()] { #expect(end == nil) }
        host.vendor.isOpen = false
        _ = try await sender.outbox.append(sender.events(3...3), to: ["a"])
        var third = try await changes(3, sender)
        #expect(try await host.outbox.drop(RecordSelection(ids: ["event-3"])) == 1)
        await sender.clock.advance(toTimerAfter: .seconds(1))
        #expect(await third.next()?.state == .dropped)
        #expect(await third.next() == nil)
        #expect(sender.vendor.batches.isEmpty)
        await sender.outbox.close()
        await host.outbox.close()
    }

    @Test func `a change that a failed look at other processes missed is seen by the next one`() async throws {
        let folder = try Folder()
        let engine = SteeredEngine(
            try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }, onDamage: { _, _ in })
        )
        engine.mayStore.send()
        let host = Bench(folder: folder)
        let sender = Bench(folder: folder, engine: { () throws(ConnectorError) in engine })
        try await host.outbox.start(isStored: true)
        _ = try await sender.outbox.append(sender.events(1...1), to: ["a"])
        var changes = try await changes(1, sender)
        await host.clock.advance(toTimerAfter: .seconds(1))
        if host.statistics().delivered == 0 { await host.until { host.statistics().delivered == 1 } }
        engine.failing.store(1, ordering: .relaxed)
        await sender.clock.advance(toTimerAfter: .seconds(1))
        while engine.failing.load(ordering: .relaxed) > 0 { try await Task.checkedYield() }
        await sender.clock.advance(toTimerAfter: .seconds(1))
        #expect(await changes.next()?.state == .delivered)
        await sender.outbox.close()
        await host.outbox.close()
    }
}
