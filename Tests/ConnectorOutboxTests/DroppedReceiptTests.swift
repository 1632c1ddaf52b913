// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorOutbox

/// What receipts tell about events that a queue has given up.
@Suite(.timeLimit(.minutes(5))) struct DroppedReceiptTests {
    private func receipt(_ number: Int, _ bench: Bench) -> Receipt {
        Receipt(id: "event-\(number)", connectors: ["a"], outcomes: [], outbox: bench.outbox)
    }

    /// Expects that a receipt calls its event dropped.
    private func expectDropped(_ number: Int, _ bench: Bench) async {
        let error = await #expect(throws: ConnectorError.self) { try await receipt(number, bench).delivered() }
        #expect(error?.code == .partial)
        #expect(error?.outcomes.first?.error?.message.contains("dropped") == true)
    }

    @Test func `a receipt tells that its event was dropped to make room, to those who wait and those who ask later`()
        async throws
    {
        var policy = DeliveryPolicy()
        (policy.maximumBytes, policy.whenFull) = (250, .dropOldest)
        let bench = Bench(policy: policy)
        _ = try await bench.outbox.append(bench.events(1...2, bytes: 100), to: ["a"])
        var changes = receipt(1, bench).changes.makeAsyncIterator()
        #expect(try await changes.next()?.state == .queued)
        _ = try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"])
        #expect(try await changes.next()?.state == .dropped)
        #expect(try await changes.next() == nil)
        await expectDropped(1, bench)
        try await bench.outbox.start(isStored: true)
        try await receipt(2, bench).delivered()
        await bench.outbox.close()
    }

    @Test func `a receipt tells that an operator dropped its event, whether it waited or was a dead letter`()
        async throws
    {
        let bench = Bench()
        bench.vendor.answers { .success($0.map { $0.id == "event-1" ? .rejected("never") : .accepted }) }
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        await bench.drained()
        bench.vendor.isOpen = false
        _ = try await bench.outbox.append(bench.events(2...2), to: ["a"])
        var changes = receipt(2, bench).changes.makeAsyncIterator()
        #expect(try await changes.next()?.state == .queued)
        #expect(try await bench.outbox.drop(RecordSelection()) == 2)
        #expect(try await changes.next()?.state == .dropped)
        for number in 1...2 { await expectDropped(number, bench) }
        await bench.outbox.close()
    }

    @Test func `a receipt tells that full outboxes did not store its event`() async throws {
        let bench = Bench()
        let lost = Receipt(id: "event-1", connectors: [], dropped: ["b", "c"], outcomes: [], outbox: bench.outbox)
        let error = await #expect(throws: ConnectorError.self) { try await lost.delivered() }
        #expect(error?.code == .partial && error?.fix?.contains("maxBytes") == true)
        #expect(error?.outcomes.map(\.connector) == ["b", "c"])
        #expect(error?.outcomes.contains(where: \.isSuccess) == false)
        #expect(lost.loss?.connector == "b" && lost.loss?.message.hasSuffix("; so did that of c") == true)
        var changes: [DeliveryChange] = []
        for await change in lost.changes { changes.append(change) }
        #expect(changes.map(\.connector) == ["b", "c"] && changes.map(\.state) == [.dropped, .dropped])

        let kept = Receipt(id: "event-1", connectors: ["a"], dropped: ["b"], outcomes: [], outbox: bench.outbox)
        #expect(kept.loss == nil)
        try await bench.outbox.start(isStored: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let partial = await #expect(throws: ConnectorError.self) { try await kept.delivered() }
        #expect(partial?.code == .partial)
        #expect(partial?.outcomes.map(\.connector) == ["a", "b"])
        #expect(partial?.outcomes.map(\.isSuccess) == [true, false])
        let direct = Receipt(
            id: "event-1",
            connectors: [],
            dropped: ["b"],
            outcomes: [CallOutcome("a")],
            outbox: bench.outbox
        )
        #expect(direct.loss == nil)
        await bench.outbox.close()
    }

    @Test func `the errors about events in the memory of the process name no command, which could not see them`()
        async throws
    {
        let bench = Bench(isInMemory: true)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        let receipt = receipt(1, bench)
        let waiting = Task { try await receipt.delivered() }
        waiting.cancel()
        let cancelled = await #expect(throws: ConnectorError.self) { try await waiting.value }
        #expect(cancelled?.fix == "it stays in the outbox, in the memory of this process: await the receipt again")
        await bench.outbox.close()
        let closed = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
        #expect(closed?.fix?.contains("connector-host") != true, "\(String(describing: closed))")
    }
}
