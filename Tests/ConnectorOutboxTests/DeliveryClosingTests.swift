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

/// How an outbox ends: within its grace, with nothing lost, and for good.
@Suite(.timeLimit(.minutes(3))) struct DeliveryClosingTests {
    private let paths = ["a", "b", "c", "d"]

    /// An outbox whose vendors have each been sent a batch and do not answer.
    private func stalled(_ folder: Folder) async throws -> Bench {
        let bench = Bench(paths, folder: folder)
        for vendor in bench.vendors.values { vendor.stall() }
        _ = try await bench.outbox.append(bench.events(1...3), to: paths)
        try await bench.outbox.start(isStored: true)
        while !bench.vendors.values.allSatisfy({ $0.batches.count == 1 }) { try await Task.checkedYield() }
        return bench
    }

    @Test func `batches that take longer than the grace are abandoned together, and the next host delivers them`()
        async throws
    {
        let folder = try Folder()
        let bench = try await stalled(folder)
        let start = bench.clock.now()
        let hasClosed = Atomic(false)
        let closing = Task {
            await bench.outbox.close(within: .seconds(10))
            hasClosed.store(true, ordering: .releasing)
        }
        while !bench.outbox.isClosing { try await Task.checkedYield() }
        await bench.clock.timers(atLeast: 1)
        let isEarly = hasClosed.load(ordering: .acquiring)
        #expect(!isEarly)
        bench.clock.advance(by: .seconds(10))
        await closing.value
        #expect(bench.clock.now() - start == 10_000_000_000, "once for all of them")
        for path in paths { #expect(bench.statistics(path).queued == 3) }
        let next = Bench(paths, folder: folder)
        try await next.outbox.start(isStored: true)
        for path in paths {
            await next.drained(path)
            #expect(next.vendors[path]?.batches == [["event-1", "event-2", "event-3"]])
        }
        await next.outbox.close()
    }

    @Test func `a vendor that never answers does not keep the outbox from closing`() async throws {
        let never = OneShot<Void>()
        let bench = Bench(engine: { () throws(ConnectorError) in try await SQLiteEngine(now: { OutboxEvent.start }) })
        bench.vendor.ignoresCancellation(until: never)
        _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
        try await bench.outbox.start(isStored: true)
        while bench.vendor.batches.isEmpty { try await Task.checkedYield() }
        let engine = try #require(bench.outbox.openEngine)
        let hasClosed = Atomic(false)
        let closing = Task {
            await bench.outbox.close(within: .seconds(10))
            hasClosed.store(true, ordering: .releasing)
        }
        let start = bench.clock.now()
        while !hasClosed.load(ordering: .acquiring) {
            bench.clock.advance(by: .seconds(1))
            try await Task.checkedYield()
        }
        await closing.value
        #expect(bench.clock.now() - start >= 11_000_000_000)
        let closed = await #expect(throws: ConnectorError.self) { try await engine.read() }
        #expect(closed?.code == .storage)
        never.send()
    }

    @Test func `batches that are answered within the grace are recorded`() async throws {
        let bench = try await stalled(Folder())
        let closing = Task { await bench.outbox.close(within: .seconds(10)) }
        while !bench.outbox.isClosing { try await Task.checkedYield() }
        for vendor in bench.vendors.values { vendor.resume() }
        await closing.value
        for path in paths { #expect(bench.statistics(path).delivered == 3) }
    }

    @Test func `a grace of zero is allowed, and loses nothing`() async throws {
        let bench = try await stalled(Folder())
        await bench.outbox.close(within: .zero)
        for path in paths { #expect(bench.statistics(path).queued == 3) }
    }

    @Test func `an outbox that is dropped records its last batch before another process may deliver`() async throws {
        let folder = try Folder()
        let vendor: Vendor
        do {
            let bench = Bench(folder: folder)
            vendor = bench.vendor
            vendor.stall()
            _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
            try await bench.outbox.start(isStored: true)
            while vendor.batches.isEmpty { try await Task.checkedYield() }
        }
        #expect(DeliveryLock.isHeld(folder.path))
        vendor.resume()
        while DeliveryLock.isHeld(folder.path) { try await Task.checkedYield() }
        let next = Bench(folder: folder)
        try await next.outbox.start(isStored: true)
        #expect(next.statistics().queued == 0 && next.statistics().delivered == 1)
        #expect(vendor.batches.count == 1)
        await next.outbox.close()
    }

    @Test func `an outbox that is dropped during a pause sends nothing more`() async throws {
        let folder = try Folder()
        let vendor: Vendor
        let clock: ManualHostClock
        do {
            let bench = Bench(folder: folder)
            vendor = bench.vendor
            clock = bench.clock
            vendor.answers(Vendor.refuses(.unavailable))
            _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
            try await bench.outbox.start(isStored: true)
            await bench.paused()
            await clock.timers(atLeast: 2)
        }
        while DeliveryLock.isHeld(folder.path) { try await Task.checkedYield() }
        #expect(clock.timerCount == 0 && vendor.batches.count == 1)
    }

    @Test func `the changes of an event end when its outbox is dropped`() async throws {
        let (changes, continuation) = AsyncStream.makeStream(of: DeliveryChange.self)
        do {
            let bench = Bench()
            _ = try await bench.outbox.append(bench.events(1...1), to: ["a"])
            bench.outbox.follow("event-1", at: ["a"], continuation)
        }
        var states: [DeliveryChange.State] = []
        for await change in changes { states.append(change.state) }
        #expect(states == [.queued])
    }

    @Test func `a closed outbox refuses every call, whether it was ever opened or not`() async throws {
        for opens in [true, false] {
            let openings = Atomic(0)
            let bench = Bench(engine: { () throws(ConnectorError) in
                openings.add(1, ordering: .relaxed)
                return try await SQLiteEngine(now: { OutboxEvent.start })
            })
            if opens { _ = try await bench.outbox.append(bench.events(1...1), to: ["a"]) }
            await bench.outbox.close()
            let error = await #expect(throws: ConnectorError.self) {
                try await bench.outbox.append(bench.events(2...2), to: ["a"])
            }
            #expect(error?.code == .notOpen)
            await #expect(throws: ConnectorError.self) { try await bench.outbox.claim() }
            await #expect(throws: ConnectorError.self) { _ = try await bench.outbox.engine() }
            let count = openings.load(ordering: .relaxed)
            #expect(count == (opens ? 1 : 0))
            let receipt = Receipt(id: "event-1", connectors: ["a"], outcomes: [], outbox: bench.outbox)
            let late = await #expect(throws: ConnectorError.self) { try await receipt.delivered() }
            #expect(late?.code == .notOpen)
        }
    }

    @Test func `an engine that opens while its outbox closes is closed again`() async throws {
        let (isAsked, mayOpen) = (OneShot<Void>(), OneShot<Void>())
        let opened = Mutex<SQLiteEngine?>(nil)
        let bench = Bench(engine: { () throws(ConnectorError) in
            isAsked.send()
            await mayOpen.wait()
            let engine = try await SQLiteEngine(now: { OutboxEvent.start })
            opened.withLock { $0 = engine }
            return engine
        })
        let append = Task { try await bench.outbox.append(bench.events(1...1), to: ["a"]) }
        await isAsked.wait()
        let closing = Task { await bench.outbox.close() }
        while !bench.outbox.isClosing { try await Task.checkedYield() }
        mayOpen.send()
        await closing.value
        let error = await #expect(throws: ConnectorError.self) { try await append.value }
        #expect(error?.code == .notOpen)
        let engine = try #require(opened.withLock { $0 })
        let closed = await #expect(throws: ConnectorError.self) { try await engine.read() }
        #expect(closed?.code == .storage)
    }
}
