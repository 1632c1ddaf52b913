// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConfiguration
import ConnectorHostTesting
import ConnectorManifest
import ConnectorSimulator
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform
@testable import ConnectorServices

/// Calls by name keep their deadline, and the cooperative pool its threads, whatever the plugin's functions do.
@Suite(.serialized, .timeLimit(.minutes(10))) struct BlockingCallTests {
    private func opened(_ tree: String...) async throws -> TestHost {
        let test = try TestHost(tree.isEmpty ? TestHost.leaf("gate", plugin: "blocks") : tree.joined(separator: ","))
        #expect(await test.host.open().isReady)
        return test
    }

    /// Waits until so many functions hold their threads.
    private func holds(_ test: TestHost, _ count: Int64, _ path: String = "gate") async throws {
        while try await number("held", test, path) != count { try await Task.checkedYield() }
    }

    /// Lets go of every function, and waits until all have returned.
    private func release(_ test: TestHost, _ path: String = "gate") async throws {
        while try await number("release", test, path) != 0 { try await Task.checkedYield() }
    }

    /// Calls an operation on the caller's thread, because the gate may have no thread left.
    private func number(_ name: String, _ test: TestHost, _ path: String) async throws -> Int64 {
        try await number(name, test.host.gate(path))
    }

    private func number(_ name: String, _ gate: GateClient) async throws -> Int64 {
        try await gate.withPrepared(name) { call throws(ConnectorError) in
            try call()
            return try call.integer()
        }
    }

    @Test(arguments: ["hold", "begin"])
    func `a function that blocks loses its thread, and the caller gets an error at the deadline`(
        _ operation: String
    ) async throws {
        let test = try await opened()
        async let answer = failure { () throws(ConnectorError) in
            try await test.call("gate", operation, options: CallOptions(timeout: .seconds(2)))
        }
        try await holds(test, 1)
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = try await answer
        #expect(error.code == .timedOut)
        #expect(error.message == "\(operation) did not return within 2.0 s")
        #expect(error.isRetryable)
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        #expect(try await test.call("gate", "pass") == 2)
        try await release(test)
    }

    /// Threads for callers whom a prompt function may hold.
    private static let callers = WorkerThreads()

    /// Begins a call that may hold its caller's thread.
    private func begin(_ operation: String, _ test: TestHost, _ options: CallOptions = CallOptions()) throws
        -> Task<Int64?, any Error>
    {
        let gate = try test.host.gate("gate")
        return Task(executorPreference: Self.callers) {
            guard operation == "holdFor" else { return try await gate.call(operation, options: options).integer }
            return try await gate.call(operation, 1, options: options).integer
        }
    }

    @Test(arguments: ["holdPromptly", "beginPromptly", "holdFor"])
    func `prompt functions that do not return leave a processor's thread, and other calls end at their deadlines`(
        _ operation: String
    ) async throws {
        let test = try await opened()
        let lost = try (0..<PluginInstance.promptCallers).map { _ in try begin(operation, test) }
        try await holds(test, Int64(lost.count))
        for (count, other) in ["holdPromptly", "beginPromptly", "holdFor"].enumerated() {
            let next = try begin(other, test, CallOptions(timeout: .seconds(2)))
            try await holds(test, Int64(lost.count + 1 + count))
            await test.clock.advance(toTimerAfter: .seconds(2))
            let error = await #expect(throws: ConnectorError.self) { try await next.value }
            #expect(error?.code == .timedOut && error?.message == "\(other) did not return within 2.0 s")
        }
        try await release(test)
        for call in lost { #expect(try await call.value == 1) }
    }

    @Test(arguments: ["holdPromptly", "beginPromptly"])
    func `a call that keeps its timeout does not run on its caller's thread, prompt or not`(
        _ operation: String
    ) async throws {
        let test = try await opened()
        var options = CallOptions(timeout: .seconds(2))
        options.keepsTimeout = true
        let call = try begin(operation, test, options)
        try await holds(test, 1)
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = await #expect(throws: ConnectorError.self) { try await call.value }
        #expect(error?.code == .timedOut)
        try await release(test)
    }

    @Test(arguments: ["holdPromptly", "beginPromptly"])
    func `a plugin's call of a gate that it uses ends at its deadline, prompt or not`(_ operation: String) async throws
    {
        let test = try await opened()
        let node = try #require(test.host.current.tree["gate"])
        let use = GateUse(name: "inner", capability: try #require(node.capabilities.first?.id))
        let dependencies = test.host.dependencies
        let bound = BoundUse(use, to: "gate")
        let gates = try #require(dependencies.uses.gates([use], [bound], of: "user", dependencies.calls))
        let deadline = test.clock.now() + 2_000_000_000
        let call = try UsedGateCall(GateCallTemplate(use: "inner", operation: operation, deadline: deadline))
        let answer = Task { await gates.call(call) }
        try await holds(test, 1)
        await test.clock.advance(toTimerAfter: .seconds(2))
        let error = await #expect(throws: ServiceFailure.self) { try await answer.value.get() }
        #expect(error?.message.contains("\(operation) did not return within 2.0 s") == true)
        #expect(try await test.call("gate", "pass") == 2)
        try await release(test)
    }

    @Test(arguments: ["place", "report"])
    func `a delivery ends at its timeout, prompt or not, and its event waits`(_ operation: String) async throws {
        let settings = #""probe": "off", "outbox": {"batch": {"count": 1}}"#
        let test = try await opened(TestHost.leaf("vendor", plugin: "blocks-on-delivery", settings: settings))
        try await test.host.gate("vendor").send(operation, ["event": 1])
        try await holds(test, 1, "vendor")
        while try test.gate("vendor").misbehaviourCount == 0 {
            if test.clock.timerCount > 0 { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        let report = await test.host.report { $0["vendor"]?.outbox?.failure != nil }
        #expect(report["vendor"]?.outbox?.queued == 1)
        try await release(test, "vendor")
        // The next attempt may hold its thread by now; closing gives it up in time.
        let closing = Task { await test.host.close() }
        while test.host.report.state != .closed {
            if test.clock.timerCount > 0 { test.clock.advance(by: .seconds(1)) }
            try await Task.checkedYield()
        }
        await closing.value
    }

    @Test func `on a clock that is faster than the system's, a function is late once it has had the time of its call`()
        async throws
    {
        let clock = ManualHostClock()
        let host = try ConnectorHost.testing(
            #"[{"name": "gate", "plugin": "blocks", "probe": "off"}]"#,
            plugins: [Fixtures.contract("blocks")],
            clock: FastClock(clock, speed: 100)
        )
        #expect(await host.open().isReady)
        let gate = try host.gate("gate")
        async let answer = failure { () throws(ConnectorError) in
            try await gate.call("hold", options: CallOptions(timeout: .seconds(2)))
        }
        while try await number("held", gate) != 1 { try await Task.checkedYield() }
        await clock.advance(toTimerAfter: .milliseconds(20))
        let error = try await answer
        #expect(error.code == .timedOut && error.message == "hold did not return within 2.0 s")
        #expect(error.fix == "let time pass more slowly, or increase the timeout")
        #expect(host.report["gate"]?.misbehaviourCount == 0)
        await clock.advance(toTimerAfter: .milliseconds(1980))
        _ = await host.report { $0["gate"]?.misbehaviourCount == 1 }
        while try await number("release", gate) != 0 { try await Task.checkedYield() }
        await host.close()
    }

    @Test func `a function is not late at the deadline of a call that gave it no time, but ten milliseconds after`()
        async throws
    {
        let test = try await opened()
        async let answer = failure { () throws(ConnectorError) in
            try await test.call("gate", "hold", options: CallOptions(timeout: .milliseconds(1)))
        }
        try await holds(test, 1)
        await test.clock.advance(toTimerAfter: .milliseconds(1))
        let error = try await answer
        #expect(error.code == .timedOut)
        #expect(error.fix == nil && error.cause == nil)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        await test.clock.advance(toTimerAfter: .milliseconds(9))
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        try await release(test)
    }

    @Test func `a function that completes its call and then blocks is misbehaviour at the deadline`() async throws {
        let test = try await opened()
        #expect(try await test.call("gate", "linger") == 1)
        try await holds(test, 1)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        test.clock.advance(by: .seconds(30))
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        try await release(test)
    }

    @Test func `a cancelled caller does not wait for the function, whose thread is lost at the deadline`() async throws
    {
        let test = try await opened()
        let task = Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "hold") } }
        try await holds(test, 1)
        await test.clock.timers(atLeast: 1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        test.clock.advance(by: .seconds(30))
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == 1 }
        try await release(test)
    }

    @Test func `calls beyond the threads wait for one, and fail at once while all threads are lost`() async throws {
        let test = try await opened()
        let limit = CallThreads.limit
        let options = CallOptions(timeout: .seconds(1))
        await withTaskGroup(of: ConnectorError?.self) { group in
            for _ in 0..<limit + 3 {
                group.addTask {
                    try? await failure { () throws(ConnectorError) in
                        try await test.call("gate", "hold", options: options)
                    }
                }
            }
            try? await holds(test, Int64(limit))
            await test.clock.timers(atLeast: limit + 3)
            test.clock.advance(by: .seconds(1))
            let errors: [ConnectorError?] = await group.reduce(into: []) { $0.append($1) }
            #expect(errors.allSatisfy { $0?.code == .timedOut })
            let waiting = errors.filter { $0?.message == "hold did not begin within 1.0 s" }
            #expect(waiting.count == 3)
            #expect(waiting.allSatisfy { $0?.fix == nil && $0?.cause == "no thread was free for it" })
        }
        _ = await test.host.report { $0["gate"]?.misbehaviourCount == limit }
        let error = try await failure { () throws(ConnectorError) in try await test.call("gate", "pass") }
        #expect(error.code == .unavailable)
        #expect(error.message == "all 32 threads for calls of the plugin are lost in functions that do not return")
        try await test.noTimers()
        try await release(test)
        while (try? await test.call("gate", "pass")) != 2 { try await Task.checkedYield() }
        #expect(try test.gate("gate").misbehaviourCount == limit)
    }

    @Test(arguments: ["all", "first", "fastest"])
    func `leaves that block do not hang their composite`(_ policy: String) async throws {
        let test = try await opened(
            TestHost.composite(
                "group",
                policy,
                TestHost.leaf("a", plugin: "blocks"),
                TestHost.leaf("b", plugin: "blocks")
            )
        )
        async let answer = failure { () throws(ConnectorError) in
            try await test.call("group", "hold", options: CallOptions(timeout: .seconds(1)))
        }
        // With `first`, the first child takes all the time of the call.
        let holding = policy == "first" ? 1 : 2
        try await holds(test, Int64(holding), "group/a")
        await test.clock.timers(atLeast: holding)
        test.clock.advance(by: .seconds(1))
        #expect(try await answer.code == .timedOut)
        try await release(test, "group/a")
    }

    @Test func `functions that block hold no thread of the cooperative pool`() async throws {
        let test = try await opened()
        // More than the pool has on any machine that runs the tests with fewer processors than this.
        let calls = (0..<CallThreads.limit).map { _ in
            Task { try await failure { () throws(ConnectorError) in try await test.call("gate", "hold") } }
        }
        try await holds(test, Int64(calls.count))
        for call in calls { call.cancel() }
        for call in calls { #expect(try await call.value.code == .cancelled) }
        try await release(test)
    }
}
