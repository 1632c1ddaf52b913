// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import ConnectorPlatform
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorOutbox

/// Callers that wait for room in a full outbox.
@Suite(.timeLimit(.minutes(3))) struct FullOutboxTests {
    /// An outbox with room for two of three events.
    private func full(_ folder: Folder? = nil, delivers: Bool = true) async throws -> Bench {
        var policy = DeliveryPolicy()
        policy.maximumBytes = 250
        let bench = Bench(policy: policy, folder: folder, delivers: delivers)
        _ = try await bench.outbox.append(bench.events(1...2, bytes: 100), to: ["a"])
        return bench
    }

    /// Waits for room for a third event, for thirty seconds at most, and tells why it was not stored.
    private func refusal(_ bench: Bench) async throws -> ConnectorError? {
        let deadline = bench.clock.now() + 30_000_000_000
        let third = Task { try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"], by: deadline) }
        while waiters(bench) == 0 { try await Task.checkedYield() }
        while bench.clock.now() < deadline {
            bench.clock.advance(by: .seconds(1))
            try await Task.checkedYield()
        }
        let error = await #expect(throws: ConnectorError.self) { try await third.value }
        #expect(waiters(bench) == 0)
        #expect(bench.statistics().queued == 2)
        await bench.outbox.close()
        return error
    }

    private func waiters(_ bench: Bench) -> Int { bench.outbox.state.withLock { $0.waiters.count } }

    @Test func `a caller waits until its deadline, and is told that the vendor takes nothing`() async throws {
        let bench = try await full()
        bench.vendor.answers(Vendor.refuses(.unavailable, after: .seconds(3600)))
        try await bench.outbox.start(isStored: true)
        await bench.paused()
        let error = try await refusal(bench)
        #expect(error?.code == .timedOut && error?.isRetryable == true && error?.connector == "a")
        #expect(error?.message.contains("the vendor says no") == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("200 bytes") == true, "\(error?.message ?? "")")
    }

    @Test func `a caller is told that the gate is not open`() async throws {
        let bench = try await full()
        bench.vendor.isOpen = false
        try await bench.outbox.start(isStored: true)
        await bench.until { bench.outbox.condition(of: "a") == .waitingForGate }
        let error = try await refusal(bench)
        #expect(error?.code == .timedOut)
        #expect(error?.message.contains("the gate is not open") == true, "\(error?.message ?? "")")
    }

    @Test func `a caller is told that this process does not deliver, and what says why the other one does not`()
        async throws
    {
        let error = try await refusal(try await full(delivers: false))
        #expect(error?.code == .timedOut)
        let reason = "this process does not deliver; connector-host status says why"
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `a caller is told that the host is not open yet`() async throws {
        let error = try await refusal(try await full())
        #expect(error?.code == .timedOut)
        let reason = "the host is not open, and delivers nothing before"
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test func `a caller whose deadline has passed does not wait`() async throws {
        let bench = try await full()
        let past = bench.clock.now() - 1
        let error = await #expect(throws: ConnectorError.self) {
            try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"], by: past)
        }
        #expect(error?.code == .timedOut)
        await bench.outbox.close()
    }

    @Test func `callers that give up leave the line, one by one`() async throws {
        let bench = try await full()
        let callers = (3...22).map { number in
            Task { try await bench.outbox.append(bench.events(number...number, bytes: 100), to: ["a"]) }
        }
        while waiters(bench) < callers.count { try await Task.checkedYield() }
        for (index, caller) in callers.enumerated() {
            caller.cancel()
            let error = await #expect(throws: ConnectorError.self) { try await caller.value }
            #expect(error?.code == .cancelled)
            #expect(waiters(bench) == callers.count - index - 1)
        }
        await bench.outbox.close()
    }

    @Test func `a flush that gives up leaves the line`() async throws {
        let bench = try await full()
        let flush = Task { try await bench.outbox.flush(["a"], within: nil, isStored: true) }
        while waiters(bench) == 0 { try await Task.checkedYield() }
        flush.cancel()
        let error = await #expect(throws: ConnectorError.self) { try await flush.value }
        #expect(error?.code == .cancelled)
        while waiters(bench) > 0 { try await Task.checkedYield() }
        await bench.outbox.close()
    }

    @Test func `a flush fails if the outbox closes while events wait`() async throws {
        let bench = try await full()
        let flush = Task { try await bench.outbox.flush(["a"], within: nil, isStored: true) }
        while waiters(bench) == 0 { try await Task.checkedYield() }
        await bench.outbox.close()
        let error = await #expect(throws: ConnectorError.self) { try await flush.value }
        #expect(error?.code == .notOpen)
    }

    @Test func `a process that does not deliver learns that another one has made room, and has delivered everything`()
        async throws
    {
        let folder = try Folder()
        let (sender, host) = (try await full(folder), Bench(folder: folder))
        let third = Task { try await sender.outbox.append(sender.events(3...3, bytes: 100), to: ["a"]) }
        while waiters(sender) == 0 { try await Task.checkedYield() }
        try await host.outbox.start(isStored: true)
        if host.statistics().delivered < 2 { await host.until { host.statistics().delivered == 2 } }
        await sender.clock.advance(toTimerAfter: .seconds(1))
        #expect(try await third.value == ["a"])
        let flush = Task { try await sender.outbox.flush(["a"], within: nil, isStored: true) }
        while waiters(sender) == 0 { try await Task.checkedYield() }
        await host.clock.advance(toTimerAfter: .seconds(1))
        if host.statistics().delivered < 3 { await host.until { host.statistics().delivered == 3 } }
        await sender.clock.advance(toTimerAfter: .seconds(1))
        #expect(try await flush.value)
        #expect(sender.vendor.batches.isEmpty)
        await sender.outbox.close()
        await host.outbox.close()
    }

    @Test func `a caller that waits for room is told that the host closes`() async throws {
        let bench = try await full()
        let third = Task { try await bench.outbox.append(bench.events(3...3, bytes: 100), to: ["a"]) }
        while waiters(bench) == 0 { try await Task.checkedYield() }
        await bench.outbox.close()
        let error = await #expect(throws: ConnectorError.self) { try await third.value }
        #expect(error?.code == .notOpen)
    }
}
