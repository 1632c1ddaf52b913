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

/// How gates open: at once, in order, again, and not at all.
@Suite(.timeLimit(.minutes(10))) struct GateOpeningTests {
    // MARK: At once

    @Test func `fifty gates that take ten milliseconds each open together in ten milliseconds`()
        async throws
    {
        let leaves = (0..<50).map { TestHost.leaf("gate-\($0)", plugin: "timer") }.joined(separator: ",")
        let test = try TestHost(leaves)
        async let opening = test.host.open()
        // A deadline and the plugin's own timer for each.
        await test.clock.timers(atLeast: 100)
        #expect(test.host.report.gates.map(\.state) == Array(repeating: .opening, count: 50))
        #expect(test.host.report.state == .opening)
        test.clock.advance(by: .milliseconds(10))
        let report = await opening
        #expect(report.gates.count == 50)
        #expect(report.gates.allSatisfy { $0.state == .open && $0.openDuration == .milliseconds(10) })
        #expect(report.isReady)
    }

    @Test
    func `a plugin that holds its thread for ever fails at its deadline, and the others open meanwhile`()
        async throws
    {
        let test = try TestHost(
            TestHost.leaf("stuck", ["opens": "blocks"], settings: #""timeout": "5s", "probe": "off""#),
            TestHost.leaf("good")
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["good"]?.state == .open }
        #expect(test.state("stuck") == .opening)
        let generations = test.host.dependencies.generations
        while !generations.functionsInside.contains(where: { $0.text.hasPrefix("open of ") }) {
            try await Task.checkedYield()
        }
        await test.clock.advance(toTimerAfter: .seconds(5))
        // The next attempt would take another runner, so the host ends an instance that blocks this one before the attempt is over.
        if PendingCalls.areRemote { await test.clock.advance(toTimerAfter: .milliseconds(250)) }
        let report = await opening
        #expect(report["stuck"]?.state == .failed)
        #expect(report["stuck"]?.error?.code == .timedOut)
        #expect(report["good"]?.state == .open)
        #expect(!report.isReady)
    }

    // MARK: Twice

    @Test func `a second caller of open waits for the same end as the first`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        async let first = test.host.open()
        await test.clock.timers(atLeast: 1)
        async let second = test.host.open(timeout: .seconds(3600))
        async let third = test.host.open("gate", timeout: .seconds(3600))
        await test.clock.timers(atLeast: 3)
        try await TestHost.finish("\(name):open", [])
        #expect(await first.ownGates.map(\.state) == [.open])
        #expect(await second.ownGates.map(\.state) == [.open])
        #expect(try await third.ownGates.map(\.state) == [.open])
        #expect(try test.gate("gate").attempts == 1)
        try await test.noTimers()
    }

    @Test func `a second caller of open waits no longer than to its own deadline`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        async let first = test.host.open()
        await test.clock.timers(atLeast: 1)
        async let second = test.host.open(timeout: .seconds(1))
        await test.clock.advance(toTimerAfter: .seconds(1))
        #expect(await second.ownGates.map(\.state) == [.opening])
        try await TestHost.finish("\(name):open", [])
        #expect(await first.ownGates.map(\.state) == [.open])
    }

    @Test func `a second caller of open waits through all attempts of the first`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["name": .string(TestHost.unique()), "opens": "third"],
                settings: #""retry": {"attempts": 3, "initial": "200ms", "max": "5s"}, "probe": "off""#
            )
        )
        async let first = test.host.open()
        await test.clock.timers(atLeast: 1)
        async let second = test.host.open(timeout: .seconds(3600))
        for (attempt, wait) in [(2, 200), (3, 400)] {
            _ = await test.host.report { $0["gate"]?.attempts == attempt && $0["gate"]?.state == .opening }
            await test.clock.advance(toTimerAfter: .milliseconds(wait))
        }
        #expect(await first["gate"]?.state == .open)
        #expect(await second["gate"]?.state == .open)
        #expect(try test.gate("gate").attempts == 3)
    }

    @Test func `nobody keeps waiting for a gate that is closed while it opens`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(TestHost.unique()), "opens": "held"]))
        async let first = test.host.open()
        await test.clock.timers(atLeast: 1)
        async let second = test.host.open(timeout: .seconds(3600))
        await test.clock.timers(atLeast: 2)
        await test.host.close()
        #expect(await first["gate"]?.state.isUsable == false)
        #expect(await second["gate"]?.state.isUsable == false)
        #expect(test.state("gate") == .closed)
    }

    // MARK: In order

    @Test func `a gate waits for those it comes after`() async throws {
        let first = TestHost.unique("first")
        let test = try TestHost(
            TestHost.leaf("second", settings: #""after": ["first"], "probe": "off""#),
            TestHost.leaf("first", ["name": .string(first), "opens": "held"])
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["first"]?.state == .opening }
        #expect(test.state("second") == .closed)
        try await TestHost.finish("\(first):open", [])
        #expect(await opening.ownGates.map(\.state) == [.open, .open])
    }

    @Test func `a gate after one that failed opens all the same`() async throws {
        let test = try TestHost(
            TestHost.leaf("first", ["opens": "refuses"]),
            TestHost.leaf("second", settings: #""after": ["first"], "probe": "off""#)
        )
        #expect(await test.host.open().ownGates.map(\.state) == [.failed, .open])
    }

    @Test func `a gate after a composite waits for everything in it`() async throws {
        let names = [TestHost.unique(), TestHost.unique()]
        let test = try TestHost(
            TestHost.composite(
                "group",
                "all",
                TestHost.leaf("one", ["name": .string(names[0]), "opens": "held"]),
                TestHost.leaf("two", ["name": .string(names[1]), "opens": "held"])
            ),
            TestHost.leaf("last", settings: #""after": ["group"], "probe": "off""#)
        )
        async let opening = test.host.open()
        try await TestHost.finish("\(names[1]):open", [])
        _ = await test.host.report { $0["group/two"]?.state == .open }
        #expect(test.state("last") == .closed)
        try await TestHost.finish("\(names[0]):open", [])
        #expect(await opening["last"]?.state == .open)
    }

    @Test func `the children of a sequence open one after the other`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(
            TestHost.composite(
                "line",
                "sequence",
                TestHost.leaf("one", ["name": .string(name), "opens": "held"]),
                TestHost.leaf("two"),
                TestHost.leaf("three")
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["line/one"]?.state == .opening }
        #expect(test.state("line/two") == .closed)
        #expect(test.state("line/three") == .closed)
        #expect(test.state("line") == .opening)
        try await TestHost.finish("\(name):open", [])
        #expect(await opening["line"]?.state == .open)
    }

    // MARK: Again

    @Test func `retries wait for as long as the jitter chooses between zero and the doubled bound`() async throws {
        let bounds = Journal<UInt64>()
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["name": .string(TestHost.unique()), "opens": "third"],
                settings: #""retry": {"attempts": 4, "initial": "200ms", "max": "5s"}, "probe": "off""#
            ),
            jitter: { bound in
                bounds.note(bound)
                return bound / 2
            }
        )
        async let opening = test.host.open()
        for (attempt, wait) in [(2, 100), (3, 200)] {
            _ = await test.host.report { $0["gate"]?.attempts == attempt && $0["gate"]?.state == .opening }
            await test.clock.timer(dueAfter: .milliseconds(wait))
            test.clock.advance(by: .milliseconds(wait) - .nanoseconds(1))
            #expect(test.clock.hasTimer(dueAfter: .nanoseconds(1)))
            #expect(test.host.report["gate"]?.attempts == attempt)
            test.clock.advance(by: .nanoseconds(1))
        }
        let report = await opening
        #expect(report["gate"]?.state == .open)
        #expect(report["gate"]?.attempts == 3)
        #expect(report["gate"]?.openDuration == .milliseconds(300))
        #expect(report["gate"]?.error == nil)
        #expect(bounds.values == [200_000_000, 400_000_000])
    }

    @Test func `the default jitter of a host stays within its bound`() {
        let jitter = ConnectorHost.Options().jitter
        #expect((0..<1000).allSatisfy { _ in jitter(1000) <= 1000 })
        #expect(Set((0..<1000).map { _ in jitter(1_000_000) }).count > 100)
        #expect(jitter(0) == 0)
    }

    @Test func `a retry waits as long as the vendor asks for`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["opens": "busy"],
                settings: #""retry": {"attempts": 2, "initial": "1ms", "max": "60s"}, "probe": "off""#
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["gate"]?.attempts == 2 }
        await test.clock.timer(dueAfter: .seconds(2))
        test.clock.advance(by: .milliseconds(1999))
        #expect(test.state("gate") == .opening)
        test.clock.advance(by: .milliseconds(1))
        let report = try #require(await opening["gate"])
        #expect(report.state == .failed)
        #expect(report.error?.code == .unavailable)
        #expect(report.error?.retryAfter == .seconds(2))
        #expect(report.openDuration == .seconds(2))
    }

    @Test func `no attempt begins after the overall deadline`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["opens": "fails"],
                settings: #""retry": {"attempts": 9, "initial": "5s", "max": "5s"}, "probe": "off""#
            )
        )
        let report = await test.host.open(timeout: .seconds(3))
        #expect(report["gate"]?.state == .failed)
        #expect(report["gate"]?.attempts == 1)
        #expect(report["gate"]?.error?.code == .unavailable)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a runner takes real time to start, and the clock moves meanwhile"))
    func `an attempt ends at the overall deadline if that is earlier than its own`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", ["opens": "never"], settings: #""timeout": "60s", "probe": "off""#)
        )
        async let opening = test.host.open(timeout: .seconds(1))
        await test.clock.advance(toTimerAfter: .seconds(1))
        #expect(await opening["gate"]?.error?.code == .timedOut)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)])
    func `an opening without time loads no plugin and blames none`(_ time: Duration) async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        let gate = try #require(await test.host.open(timeout: time)["gate"])
        #expect(gate.state == .failed && gate.attempts == 1 && gate.misbehaviourCount == 0)
        #expect(gate.error?.code == .timedOut)
        #expect(gate.error?.message == "the time to open was over before the attempt began")
        #expect(gate.plugin?.sha256 == nil)
        #expect(await test.host.open().isReady)
        await test.host.close()
    }

    @Test func `a gate whose time to open was over heals as after any outage`() async throws {
        let heal = #""probe": "off", "heal": {"initial": "1s", "max": "60s"}"#
        let test = try TestHost(TestHost.leaf("gate", settings: heal))
        let gate = try #require(await test.host.open(timeout: .zero)["gate"])
        let soon = test.clock.wallTime().nanoseconds + 1_000_000_000
        #expect(gate.state == .failed && gate.nextAttemptAt == Timestamp(nanoseconds: soon))
        await test.host.close()
    }

    // MARK: Not at all

    @Test(.disabled(if: PendingCalls.areRemote, "a runner takes real time to start, and the clock moves meanwhile"))
    func `a plugin that never completes fails at its deadline, and is tried again if the file says so`()
        async throws
    {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["opens": "never"],
                settings: #""timeout": "2s", "retry": {"attempts": 2, "initial": "1s", "max": "1s"}, "probe": "off""#
            )
        )
        async let opening = test.host.open()
        await test.clock.advance(toTimerAfter: .seconds(2))
        _ = await test.host.report { $0["gate"]?.attempts == 2 }
        await test.clock.advance(toTimerAfter: .seconds(1))
        await test.clock.advance(toTimerAfter: .seconds(2))
        let report = try #require(await opening["gate"])
        #expect(report.state == .failed)
        #expect(report.error?.code == .timedOut)
        #expect(report.error?.message.contains("2.0 s") == true)
        #expect(report.openDuration == .seconds(5))
    }

    @Test func `a refused opening carries the plugin's code and words, and leaves the others open`() async throws {
        let test = try TestHost(TestHost.leaf("bad", ["opens": "refuses"]), TestHost.leaf("good"))
        let report = await test.host.open()
        let error = try #require(report["bad"]?.error)
        #expect(error.code == .unauthorized)
        #expect(error.message == "the vendor refused the credentials")
        #expect(error.cause == "fixture")
        #expect(error.connector == "bad")
        #expect(report["good"]?.state == .open)
        let thrown = #expect(throws: ConnectorError.self) { try report.requireReady() }
        #expect(thrown?.code == .unauthorized)
    }

    @Test func `an instance that cannot be created fails the gate`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["opens": "uncreated"]))
        let error = try #require(await test.host.open()["gate"]?.error)
        #expect(error.code == .invalid)
        #expect(error.message == "the configuration says so")
    }

    @Test func `an optional gate that fails does not keep the host from being ready`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", ["opens": "refuses"], settings: #""required": false, "probe": "off""#),
            TestHost.leaf("good")
        )
        let report = await test.host.open()
        #expect(report.isReady)
        #expect(report.state == .degraded)
        #expect(throws: Never.self) { try report.requireReady() }
    }

    @Test func `everything in an optional composite is optional`() async throws {
        let test = try TestHost(
            TestHost.composite(
                "group",
                "all",
                TestHost.leaf("gate", ["opens": "refuses"]),
                settings: #""required": false"#
            ),
            TestHost.leaf("good")
        )
        let report = await test.host.open()
        #expect(report["group/gate"]?.isRequired == false)
        #expect(report["group"]?.state == .failed)
        #expect(report.isReady)
    }

    @Test func `a disabled connector is not in the report`() async throws {
        let test = try TestHost(
            TestHost.leaf("off", ["opens": "refuses"], settings: #""enabled": false"#),
            TestHost.leaf("good")
        )
        #expect(await test.host.open().ownGates.map(\.path) == ["good"])
    }

    @Test func `a plugin that cannot be loaded fails its gate with the reason`() async throws {
        let host = try ConnectorHost.testing(
            #"[{"name": "bad", "plugin": "\#(Fixtures.broken("not-elf"))"}, {"name": "good", "plugin": "calls"}]"#,
            plugins: [Fixtures.contract("calls")]
        )
        let report = await host.open()
        #expect(report["bad"]?.state == .failed)
        #expect(report["bad"]?.error?.code == .notELF)
        #expect(report["bad"]?.plugin == nil)
        #expect(report["good"]?.state == .open)
    }

    @Test func `a plugin that completes open twice stays open, and is reported as misbehaving`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", ["opens": "twice"]),
            TestHost.leaf("other", plugin: "opens-twice")
        )
        await test.host.open()
        // The second completion comes after the one that opens, from the plugin's thread.
        let report = await test.host.report { report in
            ["gate", "other"].allSatisfy { report[$0]?.misbehaviourCount == 1 }
        }
        #expect(report["gate"]?.state == .open)
        #expect(report["other"]?.state == .open)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "with its last gate the runner ends, and so do the calls in it"))
    func `an opening that was abandoned because the host closed leaves nothing behind`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        async let opening = test.host.open()
        try await TestHost.taken("\(name):open")
        await test.host.close()
        #expect(await opening["gate"]?.state == .closed)
        try await test.noTimers()
        #expect(try await TestHost.finish("\(name):open", []) == 100)
        #expect(test.host.report["gate"]?.target == .closed)
    }

    @Test func `closing ends the wait between two attempts`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "gate",
                ["opens": "fails"],
                settings: #""retry": {"attempts": 9, "initial": "60s", "max": "60s"}, "probe": "off""#
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0["gate"]?.attempts == 2 }
        await test.clock.timers(atLeast: 1)
        await test.host.close()
        #expect(await opening["gate"]?.state == .closed)
        try await test.noTimers()
    }

    @Test func `a gate that is closed by hand before its turn to open stays closed`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(
            TestHost.leaf("first", ["name": .string(name), "opens": "held"]),
            TestHost.leaf("second", settings: #""after": ["first"], "probe": "off""#)
        )
        async let opening = test.host.open()
        try await TestHost.taken("\(name):open")
        let waiting = try test.gate("second")
        #expect(waiting.state == .closed && waiting.target == .open)
        #expect(try await test.host.retry("second")["second"]?.state == .closed)
        try await test.host.close("second")
        try await TestHost.finish("\(name):open", [])
        let report = await opening
        #expect(report["first"]?.state == .open && report["second"]?.state == .closed)
        #expect(try await test.host.open("second")["second"]?.state == .open)
        await test.host.close()
    }
}
