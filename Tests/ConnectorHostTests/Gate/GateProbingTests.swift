// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Evidence goes stale: gates are proved again at intervals.
@Suite(.timeLimit(.minutes(10))) struct GateProbingTests {
    private let name = TestHost.unique("probed")
    private let settings = #""probe": "30s", "timeout": "10s""#

    /// A gate whose proofs the test decides about, and another one to tell it so.
    private func opened() async throws -> TestHost {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["name": .string(name), "evidence": #"[{"kind":"authenticated","detail":"opened"}]"#],
                settings: settings
            ),
            TestHost.leaf("other")
        )
        await test.host.open()
        return test
    }

    private func set(_ status: Int64, _ test: TestHost) async throws {
        try await test.call("other", "probes", ["name": .string(name), "status": .integer(status)])
    }

    private func next(_ test: TestHost) async {
        await test.clock.advance(toTimerAfter: .seconds(30))
    }

    @Test func `a proof replaces the evidence with what it proved, and when`() async throws {
        let test = try await opened()
        let first = try #require(test.gate("gate").strongestEvidence)
        #expect(first.kind == .authenticated)
        await next(test)
        let report = await test.host.report { $0["gate"]?.strongestEvidence?.detail == "probed" }
        let evidence = try #require(report["gate"]?.strongestEvidence)
        #expect(evidence.kind == .reachable)
        #expect(evidence.at.nanoseconds == first.at.nanoseconds + 30_000_000_000)
        #expect(report["gate"]?.state == .open)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "proofs in a runner take real time, and the clock moves meanwhile"))
    func `a gate whose proofs fail is degraded, then failed, and opens again on a retry`() async throws {
        let test = try await opened()
        try await set(8, test)
        await next(test)
        var report = await test.host.report { $0["gate"]?.state == .degraded }
        #expect(report["gate"]?.error?.code == .unavailable)
        #expect(report["gate"]?.strongestEvidence?.detail == "opened")
        #expect(!report.isReady)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        try await test.advance(by: .seconds(30), until: .failed, "gate")
        report = test.host.report
        #expect(report["gate"]?.target == .open)
        let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "answer", ["value": 1])
        }
        #expect(error.code == .notOpen)
        #expect(error.message == "the gate has failed")
        try await set(0, test)
        report = try await test.host.retry("gate")
        #expect(report["gate"]?.state == .open)
        #expect(report["gate"]?.error == nil)
        #expect(report.isReady)
    }

    @Test func `retries that fail neither fail a gate nor postpone the proofs that do`() async throws {
        let test = try await opened()
        try await set(8, test)
        for _ in 1...10 {
            let report = try await test.host.retry("gate")
            #expect(report["gate"]?.state == .degraded)
            #expect(report["gate"]?.error?.code == .unavailable)
        }
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        // A retry between two proofs moves neither.
        while test.state("gate") == .degraded {
            await test.clock.timers(atLeast: 1)
            test.clock.advance(by: .milliseconds(400))
            try await test.host.retry("gate")
        }
        // A retry right after the last proof opens the gate that the proof has failed; while proofs fail, nothing else does.
        #expect([.failed, .opening, .open].contains(test.state("gate")))
    }

    @Test func `a retry that succeeds opens a degraded gate again`() async throws {
        let test = try await opened()
        try await set(8, test)
        #expect(try await test.host.retry("gate")["gate"]?.state == .degraded)
        try await set(0, test)
        #expect(try await test.host.retry("gate")["gate"]?.state == .open)
    }

    @Test func `a retry also proves a gate that an earlier attempt opens meanwhile`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", ["name": .string(name), "opens": "held"], settings: settings),
            TestHost.leaf("other")
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["gate"]?.state == .opening && $0["other"]?.state == .open }
        try await set(8, test)
        async let retried = test.host.retry("gate")
        while try await TestHost.finish("\(name):open", []) != 0 { try await Task.checkedYield() }
        let gate = try #require(try await retried["gate"])
        #expect(gate.state == .degraded)
        #expect(gate.error?.code == .unavailable)
        _ = await opening
    }

    @Test func `a retry returns when its caller is cancelled, and the proof goes on`() async throws {
        let test = try await opened()
        try await set(-1, test)
        let retry = Task { try await test.host.retry("gate") }
        await test.clock.timer(dueAfter: .seconds(10))
        retry.cancel()
        #expect(try await retry.value["gate"]?.state == .open)
        test.clock.advance(by: .seconds(10))
        let report = await test.host.report { $0["gate"]?.state == .degraded }
        #expect(report["gate"]?.error?.code == .timedOut)
    }

    @Test func `a proof that does not complete in time has failed`() async throws {
        let test = try await opened()
        try await set(-1, test)
        await next(test)
        await test.clock.advance(toTimerAfter: .seconds(10))
        let report = await test.host.report { $0["gate"]?.state == .degraded }
        #expect(report["gate"]?.error?.code == .timedOut)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "with its last gate the runner ends, and so do the calls in it"))
    func `a gate that closes while it is proved closes at once, and no proof follows`() async throws {
        let test = try await opened()
        try await set(-1, test)
        await next(test)
        // A proof that is given up before the plugin is told of it is never made.
        try await TestHost.taken("\(name):probe")
        await test.clock.timers(atLeast: 1)
        await test.host.close()
        #expect(test.state("gate") == .closed)
        #expect(try test.gate("gate").error == nil)
        #expect(try await TestHost.finish("\(name):probe", []) == 100)
        try await test.noTimers()
    }

    @Test func `a plugin without a probe is never proved`() async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "values", settings: settings))
        await test.host.open()
        #expect(test.state("gate") == .open)
        try await test.noTimers()
    }

    @Test func `a gate that failed to open is not proved`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "refuses"], settings: settings))
        await test.host.open()
        #expect(test.state("gate") == .failed)
        try await test.noTimers()
    }
}
