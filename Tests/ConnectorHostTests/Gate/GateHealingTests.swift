// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import Logging
import Testing

@testable import ConnectorHost
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A gate that has failed comes back by itself, until it is closed.
@Suite(.timeLimit(.minutes(10))) struct GateHealingTests {
    private let name = TestHost.unique("healing")
    private let heals = #""heal": {"initial": "1s", "max": "60s"}, "probe": "off""#

    /// A host with a gate whose openings end with the status that the test sets, and another gate to set it.
    private func opened(
        _ status: Int64,
        settings: String? = nil,
        opens: String = "switched",
        jitter: @escaping @Sendable (UInt64) -> UInt64 = { $0 },
        logger: Logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    ) async throws -> TestHost {
        let test = try TestHost(
            TestHost.leaf("gate", ["name": .string(name), "opens": .string(opens)], settings: settings ?? heals),
            TestHost.leaf("other"),
            jitter: jitter,
            logger: logger
        )
        try await test.host.open("other")
        try await set(status, test)
        await test.host.open()
        return test
    }

    private func set(_ status: Int64, _ test: TestHost) async throws {
        try await test.call("other", "probes", ["name": .string(name), "status": .integer(status)])
    }

    private let away: Int64 = 8
    private let refused: Int64 = 4

    /// A logger, and what it was told of the gate at the default level.
    private func recordedLines() -> (lines: () -> [String], logger: Logger) {
        let log = InMemoryLogHandler()
        let lines = {
            log.entries.filter { $0.level >= .info && $0.metadata["connector"] == "gate" }.map { "\($0.message)" }
        }
        return (lines, Logger(label: "test") { _ in log })
    }

    /// The first lines, as soon as there are so many: the report may show a change before the log does.
    private func first(_ count: Int, of lines: () -> [String]) async throws -> [String] {
        while lines().count < count { try await Task.checkedYield() }
        return lines()
    }

    /// Moves to the next attempt, and waits until it has come to its end.
    private func next(_ test: TestHost, _ attempts: Int) async -> GateReport? {
        await test.clock.timers(atLeast: 1)
        let wait = test.host.report["gate"]?.nextAttemptAt.map { $0.nanoseconds - test.clock.wallTime().nanoseconds }
        test.clock.advance(by: .nanoseconds(Int64(wait ?? 0)))
        return await test.host.report {
            $0["gate"]?.attempts == attempts && ($0["gate"]?.nextAttemptAt != nil || $0["gate"]?.state == .open)
        }["gate"]
    }

    @Test func `a vendor that comes up ten seconds later is open within fifteen, however the jitter falls`()
        async throws
    {
        let test = try await opened(away)
        let start = test.clock.now()
        var attempts = 1
        #expect(test.state("gate") == .failed)
        while test.state("gate") != .open {
            attempts += 1
            let now = test.clock.now() - start
            if now + (try #require(nextWait(test))) > 10_000_000_000 { try await set(0, test) }
            _ = await next(test, attempts)
        }
        #expect(test.clock.now() - start <= 15_000_000_000)
        #expect(try test.gate("gate").error == nil)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
    }

    private func nextWait(_ test: TestHost) -> UInt64? {
        test.host.report["gate"]?.nextAttemptAt.map { $0.nanoseconds - test.clock.wallTime().nanoseconds }
    }

    @Test func `a vendor that was away for an hour is open within a minute of its return`() async throws {
        let test = try await opened(away)
        let start = test.clock.now()
        var attempts = 1
        while test.clock.now() - start < 3_600_000_000_000 {
            attempts += 1
            let report = await next(test, attempts)
            #expect(report?.state == .failed)
            #expect(try #require(nextWait(test)) <= 60_000_000_000)
        }
        try await set(0, test)
        #expect(await next(test, attempts + 1)?.state == .open)
    }

    @Test func `a failure that is not retryable is retried after the longest wait`() async throws {
        let test = try await opened(refused)
        #expect(nextWait(test) == 60_000_000_000)
        try await set(0, test)
        #expect(await next(test, 2)?.state == .open)
    }

    @Test func `a failure that is not retryable is retried after half of the longest wait at the soonest`() async throws
    {
        let test = try await opened(refused, jitter: { _ in 0 })
        #expect(nextWait(test) == 30_000_000_000)
        await test.host.close()
    }

    @Test func `a gate waits at least as long as the vendor asked for`() async throws {
        let test = try await opened(away, opens: "busy", jitter: { _ in 0 })
        #expect(nextWait(test) == 2_000_000_000)
        await test.host.close()
    }

    /// Waits until no timer is left: that of a completed call goes when its function has returned.
    private func noTimers(_ test: TestHost) async throws {
        while test.clock.timerCount != 0 { try await Task.checkedYield() }
    }

    @Test func `no attempt follows if healing is off, or the gate was closed`() async throws {
        let off = try await opened(away, settings: #""heal": "off", "probe": "off""#)
        try await noTimers(off)
        #expect(try off.gate("gate").nextAttemptAt == nil)
        let test = try await opened(away)
        try await test.host.close("gate")
        try await noTimers(test)
        #expect(try test.gate("gate").nextAttemptAt == nil)
    }

    @Test func `retry attempts at once, and the scheduled attempts go on`() async throws {
        let test = try await opened(away)
        #expect(try await test.host.retry("gate")["gate"]?.attempts == 2)
        #expect(test.state("gate") == .failed)
        #expect(nextWait(test) != nil)
        try await set(0, test)
        let report = try await test.host.retry("gate")
        #expect(report["gate"]?.state == .open)
        #expect(report["gate"]?.nextAttemptAt == nil)
        try await test.noTimers()
    }

    @Test func `retry leaves a gate closed that was closed`() async throws {
        let test = try await opened(0)
        try await test.host.close("gate")
        let report = try #require(try await test.host.retry("gate")["gate"])
        #expect(report.state == .closed && report.target == .closed)
        #expect(try await created(test) == 1)
        await test.host.close()
    }

    @Test func `opening during an outage does not end the healing`() async throws {
        let test = try await opened(away)
        #expect(await test.host.open()["gate"]?.state == .failed)
        #expect(nextWait(test) != nil)
        try await set(0, test)
        #expect(await next(test, 2)?.state == .open)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "proofs in a runner take real time, and the clock moves meanwhile"))
    func `a degraded gate is proved sooner than its interval says`() async throws {
        let test = try await opened(0, settings: #""heal": {"initial": "1s", "max": "60s"}, "probe": "60s""#)
        try await set(away, test)
        let start = test.clock.now()
        try await test.advance(by: .milliseconds(500), until: .failed, "gate")
        // Degraded after 60 s; failed after the waits of healing, not after two more intervals.
        #expect(test.clock.now() - start < 120_000_000_000)
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "proofs in a runner take real time, and the clock moves meanwhile"))
    func `one line each says that a gate opened, failed, recovered and degraded`() async throws {
        let (opening, openingLogger) = recordedLines()
        let other = try await opened(0, logger: openingLogger)
        #expect(try await first(1, of: opening) == ["gate opened"])
        await other.host.close()
        let (lines, logger) = recordedLines()
        let test = try await opened(
            away,
            settings: #""heal": {"initial": "1s", "max": "60s"}, "probe": "60s""#,
            logger: logger
        )
        #expect(try await first(1, of: lines) == ["gate failed"])
        try await set(0, test)
        _ = await next(test, 2)
        #expect(try await first(2, of: lines) == ["gate failed", "gate recovered"])
        try await set(away, test)
        await test.clock.advance(toTimerAfter: .seconds(60))
        _ = await test.host.report { $0["gate"]?.state == .degraded }
        try await set(0, test)
        // A degraded gate is proved after the first wait of "heal".
        await test.clock.advance(toTimerAfter: .seconds(1))
        #expect(
            try await first(4, of: lines) == ["gate failed", "gate recovered", "gate degraded", "gate recovered"]
        )
        await test.host.close()
    }

    @Test func `readiness can be awaited, and awaiting it throws once the host is closed`() async throws {
        let test = try await opened(away)
        let waiting = Task { try await test.host.ready() }
        try await set(0, test)
        try await test.host.retry("gate")
        try await waiting.value
        await test.host.close()
        await #expect(throws: ConnectorError.self) { try await test.host.ready() }
    }

    // MARK: Secrets

    private func leaf(_ file: String) -> String {
        """
        {"name": "gate", "plugin": "calls", "probe": "off", "config": {
            "name": "\(name)", "opens": "switched", "key": {"secret": "file:\(file)"}
        }}
        """
    }

    private func created(_ test: TestHost) async throws -> Int64? {
        try await test.call("other", "lives", ["name": .string(name)])["created"]?.integer
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a successor's runner counts and remembers by itself"))
    func `a replaced key takes over from the refused one without a restart`() async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try directory.write("key", "first-key")
        let test = try TestHost(leaf("\(directory.path)/key"), TestHost.leaf("other"))
        await test.host.open()
        #expect(try await created(test) == 1)
        // Refused, but no other key is there: nothing is replaced.
        try await refuse(test)
        try directory.write("key", "second-key")
        while try await created(test) == 1 {
            try await refuse(test)
        }
        #expect(try await created(test) == 2)
        #expect(test.state("gate") == .open)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a successor's runner counts and remembers by itself"))
    func `a new key that the vendor could not check yet is tried again later`() async throws {
        let directory = ScratchDirectory()
        defer { directory.remove() }
        try directory.write("key", "first-key")
        let (lines, logger) = recordedLines()
        let test = try TestHost(leaf("\(directory.path)/key"), TestHost.leaf("other"), logger: logger)
        await test.host.open()
        try directory.write("key", "second-key")
        try await set(away, test)
        while try await created(test) == 1 { try await refuse(test) }
        #expect(!lines().contains("gate uses new secrets"))
        try await set(0, test)
        while !lines().contains("gate uses new secrets") { try await refuse(test) }
        #expect(test.state("gate") == .open)
        await test.host.close()
    }

    /// Calls the gate's operation that the vendor refuses for its credentials. The secrets are read after waits that grow.
    private func refuse(_ test: TestHost) async throws {
        test.clock.advance(by: .seconds(1))
        _ = try await failure { () throws(ConnectorError) in try await test.call("gate", "refuse", ["status": 4]) }
        try await Task.checkedYield()
    }
}
