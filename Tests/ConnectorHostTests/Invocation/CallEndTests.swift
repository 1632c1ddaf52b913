// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// Calls that are given up, at their deadline or by their caller.
@Suite(.timeLimit(.minutes(10))) struct CallEndTests {
    private let name = TestHost.unique()

    @Test func `a call ends at its deadline, the plugin is told, and a late answer is not misbehaviour`() async throws {
        let test = try await TestHost.opened()
        async let answer = failure { () throws(ConnectorError) in try await test.begin(name, timeout: .seconds(2)) }
        try await TestHost.taken(name)
        await test.clock.timer(dueAfter: .seconds(2))
        test.clock.advance(by: .seconds(2) - .nanoseconds(1))
        #expect(test.clock.hasTimer(dueAfter: .nanoseconds(1)))
        test.clock.advance(by: .nanoseconds(1))
        let error = try await answer
        #expect(error.code == .timedOut)
        #expect(error.isRetryable)
        #expect(error.message == "begin did not complete within 2.0 s")
        try await test.counts("gate", "cancels", reach: 1)
        #expect(try await TestHost.progress(name) == 100)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try await TestHost.progress(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    @Test(arguments: [Duration.zero, .seconds(-1)], TestChannel.all)
    func `a call without time ends before the plugin is called, however it is made, and says nothing of the gate`(
        _ time: Duration,
        channel: TestChannel
    ) async throws {
        let settings = channel.settings + #", "breaker": {"failures": 1, "window": "1m", "probe": "10s"}"#
        let test = try await TestHost.opened(
            TestHost.leaf("gate", settings: settings),
            TestHost.leaf("forms", plugin: "forms", settings: settings)
        )
        let (gate, forms) = (try test.host.gate("gate"), try test.host.gate("forms"))
        let options = CallOptions(timeout: time)
        let answer = try gate.typed("answer", "(value: json) async -> json", as: OperationFunction.Texts1.self)
        let first = try forms.typed("integers1", "(a: i64) -> i64", as: OperationFunction.Integers1.self)
        let errors = [
            try await failure { () throws(ConnectorError) in
                try await test.call("gate", "answer", ["value": 1], options: options)
            },
            try await failure { () throws(ConnectorError) in
                try await test.call("forms", "integers1", ["a": 1], options: options)
            },
            try await failure { () throws(ConnectorError) in
                try await forms.call("integers1", 1, options: options)
            },
            try await failure { () throws(ConnectorError) in try await answer("1", options: options) },
            try await failure { () throws(ConnectorError) in try await first(1, options: options) },
            try await failure { () throws(ConnectorError) in
                try await forms.withPrepared("integers1", options: options) { call throws(ConnectorError) in
                    try call.set(1, at: 0)
                    try call()
                }
            },
        ]
        for error in errors {
            #expect(error.code == .timedOut && !error.isRetryable && error.sending == .no, "\(error)")
            #expect(error.message.contains("was over before it began"), "\(error)")
        }
        #expect(errors.map(\.connector) == ["gate", "forms", "forms", "gate", "forms", "forms"])
        for path in ["gate", "forms"] {
            #expect(try test.gate(path).misbehaviourCount == 0)
            #expect(try test.gate(path).breaker?.state == .closed)
        }
        await test.host.close()
    }

    @Test func `no timeout overflows`() async throws {
        let test = try await TestHost.opened()
        async let answer = test.begin(name, timeout: .seconds(Int64.max))
        #expect(try await TestHost.finish(name, 5) == 0)
        #expect(try await answer == 5)
    }

    @Test func `a cancelled caller resumes, the plugin is told, and a late completion is not misbehaviour`()
        async throws
    {
        let test = try await TestHost.opened()
        let task = Task { try await failure { () throws(ConnectorError) in try await test.begin(name) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        try await test.counts("gate", "cancels", reach: 1)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        #expect(try await TestHost.finish(name) == 100)
        #expect(try test.gate("gate").misbehaviourCount == 0)
        try await test.noTimers()
    }

    @Test func `only the caller's own cancellation counts as one`() async throws {
        let test = try await TestHost.opened(TestHost.leaf("gate"), TestHost.leaf("other"))
        let task = Task { try await failure { () throws(ConnectorError) in try await test.begin(name) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        #expect(try await test.call("other", "fail", ["name": .string(name), "status": 10]) == 0)
        let vendors = try await task.value
        #expect(vendors.code == .aborted)
        #expect(!vendors.isCancellation)
        let own = Task { try await failure { () throws(ConnectorError) in try await test.begin(name) } }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 1)
        own.cancel()
        #expect(try await own.value.isCancellation)
    }

    @Test func `late answers to calls given up one after the other are not misbehaviour`() async throws {
        let test = try await TestHost.opened()
        let names = (1...3).map { "\(name)-\($0)" }
        for (index, name) in names.enumerated() {
            let task = Task {
                try await failure { () throws(ConnectorError) in
                    try await test.call("gate", "begin", ["name": .string(name)])
                }
            }
            try await TestHost.taken(name)
            await test.clock.timers(atLeast: 1)
            task.cancel()
            #expect(try await task.value.code == .cancelled)
            try await test.counts("gate", "cancels", reach: Int64(index + 1))
        }
        for name in names { #expect(try await TestHost.progress(name) == 100) }
        for name in names { #expect(try await TestHost.finish(name) == 100) }
        #expect(try test.gate("gate").misbehaviourCount == 0)
        for name in names { #expect(try await TestHost.finish(name) == 100) }
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }

    @Test(arguments: TestChannel.all)
    func `a call of a task that is cancelled already ends before the plugin is called, however it is made`(
        _ channel: TestChannel
    ) async throws {
        let test = try await TestHost.opened(
            TestHost.leaf("gate", settings: channel.settings),
            TestHost.composite("group", "all", TestHost.leaf("a", settings: channel.settings))
        )
        let gate = try test.host.gate("gate")
        let answer = try gate.typed("answer", "(value: json) async -> json", as: OperationFunction.Texts1.self)
        let errors = try await afterCancellation {
            [
                try await failure { () throws(ConnectorError) in try await gate.call("answer", ["value": 1]) },
                try await failure { () throws(ConnectorError) in try await gate.call("answer", 1) },
                try await failure { () throws(ConnectorError) in try await answer("1") },
                try await failure { () throws(ConnectorError) in
                    try await test.call("group", "answer", ["value": 1])
                },
                try await failure { () throws(ConnectorError) in
                    try await test.host.gate("group/a").outcomes(of: "counts")
                },
            ]
        }
        for error in errors {
            #expect(error.isCancellation && !error.isRetryable && error.sending == .no, "\(error)")
        }
        #expect(errors.map(\.connector) == ["gate", "gate", "gate", "group", "group/a"])
        #expect(try test.gate("gate").calls?.failures == 0)
        await test.host.close()
    }

    @Test func `when a cancellation races a completion the caller gets one of them, once`() async throws {
        let test = try await TestHost.opened()
        var ends: [String: Int] = [:]
        for index in 0..<50 {
            let name = "\(name)-\(index)"
            let task = Task {
                do throws(ConnectorError) {
                    return try await test.call("gate", "begin", ["name": .string(name)]) == 1 ? "completed" : "wrong"
                } catch {
                    return error.code.rawValue
                }
            }
            try await TestHost.taken(name)
            await test.clock.timers(atLeast: 1)
            async let answer = TestHost.finish(name, 1)
            task.cancel()
            let end = await task.value
            let status = try await answer
            #expect(status == (end == "completed" ? 0 : 100))
            ends[end, default: 0] += 1
        }
        #expect(Set(ends.keys).isSubset(of: ["completed", "cancelled"]))
        #expect(ends.values.reduce(0, +) == 50)
        #expect(try test.gate("gate").misbehaviourCount == 0)
    }
}
