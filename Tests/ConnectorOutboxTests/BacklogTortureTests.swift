// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An outbox with many events for a vendor that is away. `make torture` sets `CONNECTOR_TORTURE_EVENTS`.
@Suite(.timeLimit(.minutes(60))) struct BacklogTortureTests {
    private static let count =
        unsafe getenv("CONNECTOR_TORTURE_EVENTS").flatMap { unsafe Int(String(cString: $0)) } ?? 50_000

    /// The private memory of this process, in bytes.
    private static var memory: Int64 { ProcessMemory.privateBytes(of: getpid()) ?? 0 }

    /// Stores many events, a thousand at a time.
    private static func fill(_ outbox: Outbox, from first: Int, through last: Int) async throws {
        for start in stride(from: first, through: last, by: 1000) {
            let events = (start...min(start + 999, last)).map { OutboxEvent.numbered($0, bytes: 300) }
            _ = try await outbox.append(events, to: ["a"])
        }
    }

    /// In a process of its own, whose memory no other test changes.
    @Test func `memory does not grow with the number of waiting events, in this process or the next`() async {
        await #expect(processExitsWith: .success) {
            let (count, folder) = (BacklogTortureTests.count, try Folder())
            let bench = Bench(folder: folder)
            bench.vendor.answers(Vendor.refuses(.unavailable))
            try await bench.outbox.start(isStored: true)
            try await BacklogTortureTests.fill(bench.outbox, from: 1, through: 10_000)
            await bench.paused()
            let before = BacklogTortureTests.memory
            try await BacklogTortureTests.fill(bench.outbox, from: 10_001, through: count)
            for _ in 1...10 { await bench.nextAttempt() }
            let growth = BacklogTortureTests.memory - before
            if !Sanitizer.isPresent { #expect(growth < 10 << 20, "with \(count) events") }
            #expect(bench.statistics().queued == count)
            await bench.outbox.close()
            let next = Bench(folder: folder)
            next.vendor.answers(Vendor.refuses(.unavailable))
            try await next.outbox.start(isStored: true)
            for _ in 1...3 { await next.nextAttempt() }
            if !Sanitizer.isPresent { #expect(BacklogTortureTests.memory - before < 10 << 20, "with \(count) events") }
            #expect(next.statistics().queued == count)
            await next.outbox.close()
        }
    }

    @Test func `delivering an event costs the same however many wait behind it`() async throws {
        let engine = try await SQLiteEngine(now: { OutboxEvent.start })
        func cost() async throws -> Int {
            let before = try await engine.steps()
            for _ in 1...10 {
                let batch = try await engine.batch(for: "a", upTo: BatchLimits(count: 100), now: OutboxEvent.start)
                let attempt = Attempt(at: OutboxEvent.start, failures: Array(repeating: nil, count: 100))
                try await engine.settle(batch, Array(repeating: .delivered, count: 100), attempt)
            }
            return try await engine.steps() - before
        }
        _ = try await engine.append((1...10_000).map { .numbered($0, bytes: 300) }, to: ["a"])
        let few = try await cost()
        for start in stride(from: 10_001, through: Self.count, by: 1000) {
            _ = try await engine.append((start..<start + 1000).map { .numbered($0, bytes: 300) }, to: ["a"])
        }
        let many = try await cost()
        #expect(Double(many) < Double(few) * 1.1, "\(few) steps with 10,000 queued, \(many) with \(Self.count)")
        await engine.close()
    }
}
