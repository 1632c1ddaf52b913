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

/// An outbox with many events before a vendor that is away. `make torture` sets `CONNECTOR_TORTURE_EVENTS`.
@Suite(.timeLimit(.minutes(60))) struct BacklogTortureTests {
    private let count =
        unsafe getenv("CONNECTOR_TORTURE_EVENTS").flatMap { unsafe Int(String(cString: $0)) } ?? 50_000

    /// The memory of this process that is its own, in bytes.
    private var memory: Int {
        let descriptor = unsafe open("/proc/self/statm", O_RDONLY)
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 200)
        _ = unsafe read(descriptor, &text, 200)
        let fields = text.split(separator: UInt8(ascii: " ")).compactMap { Int(String(decoding: $0, as: UTF8.self)) }
        return (fields[1] - fields[2]) * 4096
    }

    /// Stores many events, a thousand at a time.
    private func fill(_ outbox: Outbox, from first: Int, through last: Int) async throws {
        for start in stride(from: first, through: last, by: 1000) {
            let events = (start...min(start + 999, last)).map { OutboxEvent.numbered($0, bytes: 300) }
            _ = try await outbox.append(events, to: ["a"])
        }
    }

    @Test func `memory does not grow with what waits, nor when the next process finds it`() async throws {
        let folder = try Folder()
        let bench = Bench(folder: folder)
        bench.vendor.answers(Vendor.refuses(.unavailable))
        try await bench.outbox.start(isStored: true)
        try await fill(bench.outbox, from: 1, through: 10_000)
        await bench.paused()
        let before = memory
        try await fill(bench.outbox, from: 10_001, through: count)
        for _ in 1...10 { await bench.nextAttempt() }
        let after = memory
        if !Sanitizer.isPresent { #expect(after - before < 10 << 20) }
        #expect(bench.statistics().queued == count)
        await bench.outbox.close()
        let next = Bench(folder: folder)
        next.vendor.answers(Vendor.refuses(.unavailable))
        try await next.outbox.start(isStored: true)
        for _ in 1...3 { await next.nextAttempt() }
        if !Sanitizer.isPresent { #expect(memory - before < 10 << 20) }
        #expect(next.statistics().queued == count)
        await next.outbox.close()
        print("\(count) events queued: memory grew by \(max(0, after - before) >> 10) KB")
    }

    @Test func `a delivered event costs the same whatever waits behind it`() async throws {
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
        for start in stride(from: 10_001, through: count, by: 1000) {
            _ = try await engine.append((start..<start + 1000).map { .numbered($0, bytes: 300) }, to: ["a"])
        }
        let many = try await cost()
        #expect(Double(many) < Double(few) * 1.1, "\(few) steps with 10,000 queued, \(many) with \(count)")
        await engine.close()
    }
}
