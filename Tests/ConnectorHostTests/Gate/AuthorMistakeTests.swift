// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import InMemoryLogging
import Logging
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorIsolation
@testable import ConnectorPlatform

/// Mistakes that authors of plugins make, and what the host says of them.
@Suite(.timeLimit(.minutes(5))) struct AuthorMistakeTests {
    private let log = InMemoryLogHandler()

    private func host(_ plugin: String, _ config: JSONObject = [:], settings: String = "") throws -> TestHost {
        var logger = Logger(label: "test") { [log] _ in log }
        logger.logLevel = .trace
        let settings = settings.isEmpty ? #""probe": "off", "timeout": "2s""# : settings
        return try TestHost(TestHost.leaf("gate", plugin: plugin, config, settings: settings), logger: logger)
    }

    /// The services that the log says are not declared, in its order.
    private var undeclared: [String] {
        log.entries.filter { $0.message == "plugin asked for a service that its manifest does not declare" }
            .compactMap { $0.metadata["service"]?.description }
    }

    /// Waits until the plugin's function `open` has returned.
    private func openHasReturned(_ test: TestHost) async throws {
        while let gate = try? test.host.target("gate").node.gate {
            let generation = gate.storage.withLock { $0.opening ?? $0.current }
            if let channel = generation?.state.withLock(\.remoteChannel) {
                // A runner says when it has returned.
                if channel.state.withLock({ $0.pending.values.contains { $0.isPhase && $0.hasReturned } }) { return }
            } else if !PendingCalls.areRemote, generation?.state.withLock({ $0.hasBegun && $0.step == nil }) == true {
                return
            }
            try await Task.checkedYield()
        }
    }

    /// Waits until the functions of all calls have returned, if the plugin is in a runner, which says so.
    private func callsHaveReturned(_ test: TestHost) async throws {
        guard PendingCalls.areRemote else { return }
        let channel = try test.remoteChannel("gate")
        while channel.state.withLock({ !$0.pending.values.allSatisfy(\.hasReturned) }) { try await Task.checkedYield() }
    }

    @Test func `a plugin that completes open without evidence fails its gate`() async throws {
        let gate = try #require(await host("null-evidence").host.open()["gate"])
        #expect(gate.state == .failed)
        #expect(gate.evidence.isEmpty)
        #expect(gate.error?.code == .misbehaved)
        #expect(gate.error?.message == "the plugin completed open without evidence")
        #expect(gate.error?.fix?.contains(#"[{"kind": "configured"}]"#) == true)
    }

    @Test(arguments: TestChannel.all)
    func `a plugin that asks for services that its manifest does not name is warned once about each`(
        channel: TestChannel
    ) async throws {
        let test = try host("asks-undeclared", settings: channel.settings)
        #expect(await test.host.open()["gate"]?.state == .open)
        #expect(undeclared == ["x/1", "storage/1"])
        #expect(log.entries.allSatisfy { $0.metadata["service"]?.description != "clock/1" })
        await test.host.close()
    }

    @Test(arguments: ["one", "all"], TestChannel.all)
    func `asking in create for one undeclared service is reported, and asking for every known one is not`(
        _ count: String,
        channel: TestChannel
    ) async throws {
        let test = try host("asks-undeclared", ["create": .string(count)], settings: channel.settings)
        #expect(await test.host.open()["gate"]?.state == .open)
        #expect(undeclared == (count == "one" ? ["http/1", "x/1", "storage/1"] : ["x/1"]))
        await test.host.close()
    }

    @Test func `an opening that fails as unavailable is retried although the plugin does not call it retryable`()
        async throws
    {
        let test = try host(
            "calls",
            ["name": .string(TestHost.unique("away")), "opens": "silently away"],
            settings: #""timeout": "1h", "probe": "off", "retry": {"attempts": 20, "initial": "1s", "max": "1s"}"#
        )
        async let report = test.host.open()
        for _ in 1...2 { await test.clock.advance(toTimerAfter: .seconds(1)) }
        let gate = try #require(await report["gate"])
        #expect(gate.state == .open && gate.attempts == 3)
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `an opening that waits for the answer of a server names it`(channel: TestChannel) async throws {
        let hasCome = CallCounter()
        let server = LoopbackServer { _ in
            hasCome.add()
            return .stall
        }
        defer { server.stop() }
        let endpoint: JSONObject = ["endpoint": .string(server.url("/"))]
        let test = try host("http", endpoint, settings: #"\#(channel.settings), "timeout": "2s""#)
        async let report = test.host.open()
        await hasCome.reaches(1)
        try await openHasReturned(test)
        let gate = try #require(try test.host.target("gate").node.gate)
        let generation = gate.storage.withLock { $0.opening ?? $0.current }
        try await generation?.services.loopHasRun()
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = try #require(await report["gate"]?.error)
        #expect(error.code == .timedOut && error.message == "open did not complete within 2.0 s")
        #expect(error.cause == "no answer from 127.0.0.1:\(server.port) in time")
        #expect(error.fix == nil)
    }

    @Test func `an opening that the plugin never completes is not blamed on a slow server`() async throws {
        let test = try host("never-opens")
        async let report = test.host.open()
        try await openHasReturned(test)
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = try #require(await report["gate"]?.error)
        #expect(error.code == .timedOut)
        #expect(error.message == "open did not complete within 2.0 s")
        #expect(error.cause?.contains("it is still working, or forgot to complete the operation") == true)
        #expect(error.fix?.contains("fix the plugin") == true)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a runner takes longer than these five milliseconds to start"))
    func `an opening that waits for a timer is not blamed on the plugin`() async throws {
        let test = try host("timer", settings: #""probe": "off", "timeout": "5ms""#)
        async let report = test.host.open()
        try await openHasReturned(test)
        await test.clock.timers(atLeast: 2)
        test.clock.advance(by: .milliseconds(5))
        let error = try #require(await report["gate"]?.error)
        #expect(error.message.hasPrefix("open did not complete within"))
        #expect(error.cause == nil && error.fix == nil)
        await test.host.close()
    }

    @Test func `nor is an operation that the plugin never completes`() async throws {
        let test = try host("calls")
        await test.host.open()
        let name = TestHost.unique("forgotten")
        async let answer = failure { () throws(ConnectorError) in try await test.begin(name, timeout: .seconds(1)) }
        try await TestHost.taken(name)
        try await callsHaveReturned(test)
        await test.clock.advance(toTimerAfter: .seconds(1))
        let error = try await answer
        #expect(error.message == "begin did not complete within 1.0 s")
        #expect(error.cause?.contains("it is still working, or forgot to complete the operation") == true)
        #expect(error.fix?.hasPrefix("increase the timeout") == true)
        await test.host.close()
    }

    @Test func `nulls and impossible lengths passed to any function of the host are refused`() async throws {
        let test = try host("nulls")
        #expect(await test.host.open()["gate"]?.state == .open)
        #expect(try await test.call("gate", "sweep") == 0)
        #expect(try await test.call("gate", "sweep") == 0)
        await test.host.close()
    }
}
