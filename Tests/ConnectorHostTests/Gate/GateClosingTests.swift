// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Synchronization
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// How gates close: in reverse, after the calls that are inside, and never for ever.
@Suite(.timeLimit(.minutes(10))) struct GateClosingTests {
    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `gates close in the reverse of the order in which they opened`() async throws {
        let names = [TestHost.unique(), TestHost.unique()]
        let test = try TestHost(
            TestHost.leaf("first", ["name": .string(names[0]), "closes": "held"]),
            TestHost.leaf(
                "second",
                ["name": .string(names[1]), "closes": "held"],
                settings: #""after": ["first"], "probe": "off""#
            )
        )
        await test.host.open()
        async let closing: Void = test.host.close()
        _ = await test.host.report { $0["second"]?.state == .closing }
        #expect(test.state("first") == .open)
        try await TestHost.finish("\(names[1]):close")
        _ = await test.host.report { $0["first"]?.state == .closing }
        #expect(test.state("second") == .closed)
        try await TestHost.finish("\(names[0]):close")
        await closing
        #expect(test.host.report.state == .closed)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `the children of a sequence close last one first`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(
            TestHost.composite(
                "line",
                "sequence",
                TestHost.leaf("one"),
                TestHost.leaf("two", ["name": .string(name), "closes": "held"])
            )
        )
        await test.host.open()
        async let closing: Void = test.host.close()
        _ = await test.host.report { $0["line/two"]?.state == .closing }
        #expect(test.state("line/one") == .open)
        #expect(test.state("line") == .closing)
        try await TestHost.finish("\(name):close")
        await closing
        #expect(test.state("line/one") == .closed)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `a call that is inside finishes before the gate closes`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate"))
        await test.host.open()
        async let answer = test.call("gate", "begin", ["name": .string(name)])
        try await TestHost.taken(name)
        async let closing: Void = test.host.close()
        _ = await test.host.report { $0["gate"]?.state == .closing }
        let late = try await failure { () throws(ConnectorError) in try await test.call("gate", "counts") }
        #expect(late.code == .notOpen)
        #expect(late.message == "the gate is closing")
        #expect(try await TestHost.finish(name, 42) == 0)
        #expect(try await answer == 42)
        await closing
        #expect(test.state("gate") == .closed)
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `a call that does not finish in time ends when the gate closes, and the plugin is told`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate", settings: #""timeout": "5s", "probe": "off""#))
        await test.host.open()
        async let answer = failure { () throws(ConnectorError) in
            try await test.call("gate", "begin", ["name": .string(name)])
        }
        try await TestHost.taken(name)
        async let closing: Void = test.host.close()
        // The deadline of the call, and that of the drain.
        await test.clock.timers(atLeast: 2)
        test.clock.advance(by: .seconds(5))
        let error = try await answer
        #expect(error.code == .notOpen)
        #expect(error.isRetryable)
        await closing
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 1)
        try await test.noTimers()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "a runner that was late is watched for a while, by a timer"))
    func `every caller resumes when the gate closes, even those in line at a serial one`() async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: "serial", settings: #""timeout": "5s", "probe": "off""#))
        await test.host.open()
        let codes = Journal<ConnectorError.Code>()
        let name = TestHost.unique()
        async let callers: Void = withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    do throws(ConnectorError) {
                        _ = try await test.call("gate", "begin", ["name": .string(name)])
                    } catch {
                        codes.note(error.code)
                    }
                }
            }
        }
        // One is inside, seven wait for their turn, each with a deadline.
        await test.clock.timers(atLeast: 8)
        async let closing: Void = test.host.close()
        await test.clock.timers(atLeast: 9)
        test.clock.advance(by: .seconds(5))
        await closing
        await callers
        #expect(codes.values == Array(repeating: .notOpen, count: 8))
        try await test.noTimers()
    }

    @Test func `a plugin that never completes close is closed at the deadline`() async throws {
        let test = try TestHost(
            TestHost.leaf("gate", ["closes": "never"], settings: #""timeout": "5s", "probe": "off""#)
        )
        await test.host.open()
        async let closing: Void = test.host.close()
        _ = await test.host.report { $0["gate"]?.state == .closing }
        await test.clock.advance(toTimerAfter: .seconds(5))
        await closing
        #expect(test.state("gate") == .closed)
    }

    @Test func `a close that fails closes all the same`() async throws {
        let test = try TestHost(TestHost.leaf("gate", ["closes": "fails"]))
        await test.host.open()
        await test.host.close()
        #expect(test.state("gate") == .closed)
    }

    @Test(arguments: ["calls", "serial", "sync", "timer"])
    func `a gate can be opened and closed again and again`(_ plugin: String) async throws {
        let test = try TestHost(TestHost.leaf("gate", plugin: plugin))
        let gate = try #require(try test.host.target("gate").node.gate)
        for _ in 0..<20 {
            async let opened = gate.open()
            if plugin == "timer" {
                await test.clock.timers(atLeast: 2)
                test.clock.advance(by: .milliseconds(10))
            }
            _ = await opened
            #expect(gate.report.state == .open)
            #expect(!gate.report.evidence.isEmpty)
            await gate.close()
            #expect(gate.report.state == .closed)
            #expect(gate.report.evidence.isEmpty)
        }
        #expect(gate.report.misbehaviourCount == 0)
        try await test.noTimers()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `a gate that was closed while it opened can be opened again, and the first attempt is forgotten`()
        async throws
    {
        let name = TestHost.unique()
        let test = try TestHost(TestHost.leaf("gate", ["name": .string(name), "opens": "held"]))
        let gate = try #require(try test.host.target("gate").node.gate)
        async let first = gate.open()
        await test.clock.timers(atLeast: 1)
        await gate.close()
        _ = await first
        async let second = gate.open()
        while try await TestHost.finish("\(name):open", []) != 0 { try await Task.checkedYield() }
        _ = await second
        #expect(gate.report.state == .open)
    }

    @Test func `a closed host stays closed`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        await test.host.open()
        await test.host.close()
        #expect(await test.host.open().state == .closed)
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that completes the call closes, too"))
    func `a gate that closes shows the sandbox of the instance that it closes`() async throws {
        let name = TestHost.unique()
        let test = try await TestHost.opened(TestHost.leaf("gate", ["name": .string(name), "closes": "held"]))
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let sandbox = gate.report.sandbox
        // As an instance left it that failed in a runner, before this one opened.
        gate.storage.withLock { $0.history.sandbox = "sandbox: of an earlier runner" }
        async let closing: Void = test.host.close()
        let report = await test.host.report { $0["gate"]?.state == .closing }
        #expect(report["gate"]?.sandbox == sandbox)
        try await TestHost.finish("\(name):close")
        await closing
    }

    @Test func `closing what was never opened does nothing`() async throws {
        let test = try TestHost(TestHost.leaf("gate"))
        await test.host.close()
        #expect(test.state("gate") == .closed)
    }

    @Test func `calls on other threads while the gate closes succeed or are turned away`() async throws {
        for _ in 0..<20 {
            let test = try TestHost(TestHost.leaf("forms", plugin: "forms"))
            await test.host.open()
            let add = try test.host.gate("forms").typed(
                "integers2",
                "(a: i64, b: i64) -> i64",
                as: OperationFunction.Integers2.self
            )
            let sum = try await add(40, 2)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        do throws(ConnectorError) {
                            while true {
                                #expect(try await add(40, 2) == sum)
                                await Task.yield()
                            }
                        } catch {
                            #expect(error.code == .notOpen)
                        }
                    }
                }
                await test.host.close()
            }
        }
    }

    @Test func `a gate that is closed and opened again while a successor waits ends up with the new configuration`()
        async throws
    {
        let test = try await TestHost.opened()
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        var configuration = gate.plan.configuration
        configuration.config["name"] = .string(TestHost.unique())
        let successor = try await gate.openSuccessor(gate.plan.with(configuration), by: .max).get()
        await gate.close()
        await gate.open()
        #expect(gate.storage.withLock { $0.current?.configuration } != configuration)
        gate.switchOver(to: successor)
        while gate.storage.withLock({ $0.current?.configuration }) != configuration { try await Task.checkedYield() }
        #expect(test.state("gate") == .open)
        #expect(try await test.call("gate", "answer", ["value": 1]) == 1)
        await test.host.close()
    }

    @Test func `a gate that closes right after a switch awaits the end of the instance before`() async throws {
        let name = TestHost.unique()
        let test = try await TestHost.opened(TestHost.leaf("gate", ["name": .string(name), "closes": "held"]))
        let gate = try #require(test.host.current.tree["gate"]?.gate)
        let predecessor = try #require(gate.storage.withLock { $0.current })
        var configuration = gate.plan.configuration
        configuration.config["closes"] = nil
        let successor = try await gate.openSuccessor(gate.plan.with(configuration), by: .max).get()
        gate.switchOver(to: successor)
        #expect(gate.report.drainingCount == 1)
        async let closing: Void = gate.close()
        try await TestHost.finish("\(name):close")
        await closing
        #expect(predecessor.ended.value != nil)
        await test.host.close()
    }
}
