// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Whoever learns from a receipt what became of an event finds it in the statistics.
@Suite(.timeLimit(.minutes(5))) struct ReceiptCountTests {
    @Test func `a receipt that finds its event delivered tells so once the delivery is counted`() async throws {
        let engine = try await SteeredEngine.inMemory()
        engine.mayStore.send()
        engine.holdsDeliveries.store(true, ordering: .relaxed)
        let bench = Bench(engine: { () throws(ConnectorError) in engine })
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        while engine.held.load(ordering: .relaxed) == 0 { try await Task.checkedYield() }
        #expect(bench.statistics().delivered == 0)
        let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
        let told = Task {
            try await receipt.delivered()
            return (count: bench.statistics().delivered, rate: bench.outbox.rate(of: "a"))
        }
        while engine.recordReadings.load(ordering: .relaxed) == 0 { try await Task.checkedYield() }
        engine.mayReturn.send()
        let found = try await told.value
        #expect(found.count == 1 && found.rate > 0)
        await bench.outbox.close()
    }

    @Test func `a receipt that finds its event delivered by another process tells so once that is counted`()
        async throws
    {
        let folder = try Folder()
        let (host, sender) = (Bench(folder: folder), Bench(folder: folder))
        _ = try await sender.outbox.append(sender.events(1...1), to: ["a"])
        try await host.outbox.start(isStored: true)
        await host.drained()
        #expect(sender.statistics().delivered == 0)
        try await Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: sender.outbox).delivered()
        #expect(sender.statistics().delivered == 1)
        await sender.outbox.close()
        await host.outbox.close()
    }
}
