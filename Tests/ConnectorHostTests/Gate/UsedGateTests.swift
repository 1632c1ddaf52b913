// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Logging
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// A plugin in C, `user`, that uses another gate, `inner`.
@Suite(.timeLimit(.minutes(5))) struct UsedGateTests {
    /// In runners, the gate of ``PendingCalls`` offers the same capability.
    private static let with = #""probe": "off", "with": {"inner": "inner"}"#
    private static let user = TestHost.leaf("user", plugin: "uses", settings: with)

    private static func host(_ inner: JSONObject = [:], settings: String = #""probe": "off""#) throws -> TestHost {
        try TestHost(user, TestHost.leaf("inner", inner, settings: settings))
    }

    private static func opened() async throws -> TestHost {
        let test = try host()
        #expect(await test.host.open().isReady)
        return test
    }

    /// What `user` answers to a call that it passes on.
    @discardableResult
    private static func pass(
        _ test: TestHost,
        _ operation: String,
        _ arguments: JSONValue = [:],
        use: String = "inner",
        timeout: Int64? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> JSONValue {
        var all: JSONObject = ["use": .string(use), "operation": .string(operation), "arguments": arguments]
        all["timeout"] = timeout.map(JSONValue.integer)
        return try await test.call("user", "pass", all, options: options)
    }

    @Test func `a plugin calls what it uses, with arguments by name or by position`() async throws {
        let test = try await Self.opened()
        #expect(try await Self.pass(test, "answer", ["value": 7]) == 7)
        #expect(try await Self.pass(test, "answer", [["a": 1]]) == ["a": 1])
        #expect(try await Self.pass(test, "counts") == ["cancels": 0, "running": 0, "most": 0])
        #expect(try await Self.pass(test, "lives", ["x"])["created"] == 0)
        #expect(try await test.call("user", "table") == 40)
        #expect(try test.gate("inner").calls?.total == 4)
        #expect(try test.gate("user").uses == ["inner": "inner"])
        let report = test.host.report
        #expect(report.json["gates"]?[0]?["uses"] == ["inner": "inner"])
        #expect(report.json["gates"]?[1]?["uses"] == nil)
        #expect(Report(json: report.json)?["user"]?.uses == ["inner": "inner"])
        await test.host.close()
    }

    @Test func `bytes travel to a used gate and back as an object with their Base64; a string means its own UTF-8`()
        async throws
    {
        let test = try TestHost(TestHost.leaf("values", plugin: "values"))
        await test.host.open()
        let node = try #require(test.host.current.tree["values"])
        let capability = try #require(node.capabilities.first?.id)
        func reversed(_ data: JSONValue) async throws -> JSONValue {
            let arguments = CallArguments(["data": data] as JSONObject)
            let answer = try await node.call("reverse", of: capability, arguments, CallOptions(), in: test.host.current)
            return try JSONValue(parsing: answer)
        }
        #expect(try await reversed(["base64": "AP8="]) == ["base64": "/wA="])
        #expect(try await reversed("AP8=") == ["base64": "PThQQQ=="])
        await test.host.close()
    }

    @Test func `a plugin reaches the capability that it declared, and nothing else`() async throws {
        let test = try await Self.opened()
        let undeclared = try await failure { () async throws(ConnectorError) in
            try await Self.pass(test, "answer", use: "other")
        }
        #expect(undeclared.code == .invalid)
        #expect(undeclared.message == #"the manifest's "uses" does not name "other"; it names inner"#)
        let unknown = try await failure { () async throws(ConnectorError) in try await Self.pass(test, "answr") }
        #expect(unknown.code == .invalid)
        #expect(unknown.message == #"inner: calls/1 has no operation "answr"; did you mean "answer"?"#)
        let qualified = try await failure { () async throws(ConnectorError) in try await Self.pass(test, "calls/answer")
        }
        #expect(qualified.code == .invalid)
        let arguments = try await failure { () async throws(ConnectorError) in
            try await Self.pass(test, "answer", ["wert": 1])
        }
        #expect(arguments.code == .invalid && arguments.message.hasPrefix("inner: "))
        let scalar = try await failure { () async throws(ConnectorError) in try await Self.pass(test, "answer", 1) }
        #expect(scalar.message == "the arguments must be an object or an array, not an integer")
        #expect(try test.gate("user").misbehaviourCount == 0)
        await test.host.close()
    }

    @Test func `the error of a used gate arrives with its code, its path and whether to retry`() async throws {
        let test = try Self.host(["fails": "away"])
        await test.host.open()
        let error = try await failure { () async throws(ConnectorError) in
            try await Self.pass(test, "answer", ["value": 1])
        }
        #expect(error.code == .unavailable && error.isRetryable && error.connector == "user")
        #expect(error.message.hasPrefix("inner: "))
        let refused = try await failure { () async throws(ConnectorError) in
            try await Self.pass(test, "refuse", ["status": 6])
        }
        #expect(refused.code == .conflict)
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that would complete the opening does not open with the user"))
    func `a used gate opens before its user`() async throws {
        let name = TestHost.unique()
        let test = try Self.host(["name": .string(name), "opens": "held"])
        async let opening = test.host.open("user")
        _ = await test.host.report { $0["inner"]?.state == .opening }
        #expect(test.state("user") == .closed)
        try await TestHost.finish("\(name):open", [["kind": "configured"]])
        #expect(try await opening.isReady)
        await test.host.close()
    }

    @Test(.disabled(if: PendingCalls.areRemote, "the gate that would complete the closing closes, too"))
    func `a used gate closes after its user`() async throws {
        let name = TestHost.unique()
        let test = try TestHost(
            TestHost.leaf("inner", ["name": .string(name), "closes": "held"]),
            Self.user
        )
        await test.host.open()
        async let closing: Void = test.host.close()
        try await TestHost.finish("\(name):close")
        await closing
        #expect(test.state("user") == .closed && test.state("inner") == .closed)
    }

    // MARK: Deadlines and cancellation

    @Test func `a call has a deadline of its own`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        async let error = failure { () async throws(ConnectorError) in
            try await Self.pass(test, "begin", ["name": .string(name)], timeout: 1_000_000_000)
        }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 2)
        test.clock.advance(by: .seconds(1))
        let late = try await error
        #expect(late.code == .timedOut)
        #expect(late.message.hasPrefix("inner: begin did not complete within 1.0 s"))
        await test.host.close()
    }

    @Test func `a call ends no later than the call that made it`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        // The plugin completes its own call, and leaves the inner one alone.
        let options = CallOptions(timeout: .seconds(5))
        #expect(
            try await test.call("user", "drop", ["arguments": ["name": .string(name)]], options: options) == "left"
        )
        try await TestHost.taken(name)
        #expect(try await test.call("inner", "counts")["cancels"] == 0)
        await test.clock.timers(atLeast: 1)
        test.clock.advance(by: .seconds(5))
        try await test.counts("inner", "cancels", reach: 1)
        await test.host.close()
    }

    @Test func `a call is cancelled with the call that made it`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await Self.pass(test, "begin", ["name": .string(name)])
            }
        }
        try await TestHost.taken(name)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        try await test.counts("inner", "cancels", reach: 1)
        #expect(try await Self.pass(test, "answer", ["value": true]) == true)
        await test.host.close()
    }

    @Test func `a call is cancelled when the call that made it times out`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await Self.pass(
                    test,
                    "begin",
                    ["name": .string(name)],
                    options: CallOptions(timeout: .seconds(2))
                )
            }
        }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 2)
        test.clock.advance(by: .seconds(2))
        #expect(try await task.value.code == .timedOut)
        try await test.counts("inner", "cancels", reach: 1)
        await test.host.close()
    }

    @Test(arguments: [true, false])
    func `a call on the plugin's own thread belongs to the call that it names`(isCancelled: Bool) async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await test.call(
                    "user",
                    "passLater",
                    ["operation": "begin", "arguments": ["name": .string(name)]],
                    options: CallOptions(timeout: .seconds(2))
                )
            }
        }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 2)
        if isCancelled { task.cancel() } else { test.clock.advance(by: .seconds(2)) }
        #expect(try await task.value.code == (isCancelled ? .cancelled : .timedOut))
        try await test.counts("inner", "cancels", reach: 1)
        await test.host.close()
    }

    @Test(arguments: TestChannel.all)
    func `a call in a callback belongs to the call that the call before it named`(_ channel: TestChannel) async throws {
        let test = try TestHost(
            TestHost.leaf("user", plugin: "uses", settings: channel.settings + #", "with": {"inner": "inner"}"#),
            TestHost.leaf("inner", settings: #""probe": "off""#)
        )
        #expect(await test.host.open().isReady)
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await test.call("user", "passTwice", ["arguments": ["name": .string(name)]])
            }
        }
        try await TestHost.taken(name)
        task.cancel()
        #expect(try await task.value.code == .cancelled)
        try await test.counts("inner", "cancels", reach: 1)
        await test.host.close()
    }

    @Test(arguments: [true, false])
    func `a call is given up with the typed call that made it`(isCancelled: Bool) async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let keep = try test.host.gate("user").typed(
            "keep",
            "(arguments: json) async -> json",
            as: OperationFunction.Texts1.self
        )
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await keep(#"{"name": "\#(name)"}"#, options: CallOptions(timeout: .seconds(2)))
            }
        }
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 2)
        if isCancelled { task.cancel() } else { test.clock.advance(by: .seconds(2)) }
        #expect(try await task.value.code == (isCancelled ? .cancelled : .timedOut))
        try await test.counts("inner", "cancels", reach: 1)
        await test.host.close()
    }

    @Test func `a call on the plugin's own thread may take as long as the typed call that it names`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let later = try test.host.gate("user").typed(
            "passLater",
            "(operation: string, arguments: json) async -> json",
            as: OperationFunction.Texts2.self
        )
        async let answer = later("begin", #"{"name": "\#(name)"}"#, options: CallOptions(timeout: .seconds(60)))
        try await TestHost.taken(name)
        await test.clock.timers(atLeast: 2)
        test.clock.advance(by: .seconds(40))
        #expect(try await TestHost.finish(name, 7) == 0)
        #expect(try await answer == 7)
        await test.host.close()
    }

    // MARK: Failing and closing

    @Test func `a used gate that fails degrades its user, which recovers with it`() async throws {
        let test = try Self.host(["name": .string(TestHost.unique()), "opens": "third"])
        let report = await test.host.open()
        let user = try #require(report["user"])
        #expect(user.state == .degraded && !user.isReady && !report.isReady)
        #expect(user.error?.code == .notOpen && user.error?.isRetryable == true)
        #expect(user.error?.message == #"uses inner as "inner", which has failed"#)
        #expect(user.error?.cause == report["inner"]?.error?.asCause)
        let error = try await failure { () async throws(ConnectorError) in
            try await Self.pass(test, "answer", ["value": 1])
        }
        #expect(error.code == .notOpen && error.message.hasPrefix("inner: the gate has failed"))
        try await test.host.retry("inner")
        #expect(test.state("user") == .degraded)
        let recovered = try await test.host.retry("inner")
        #expect(recovered["inner"]?.state == .open)
        #expect(recovered["user"]?.state == .open && recovered["user"]?.error == nil && recovered.isReady)
        try await test.host.close("inner")
        #expect(try test.gate("user").error?.message == #"uses inner as "inner", which is closed"#)
        await test.host.close()
    }

    @Test func `a gate that cannot open without the gate that it uses opens as soon as that does`() async throws {
        let test = try TestHost(
            TestHost.leaf(
                "user",
                plugin: "uses",
                ["opens": ["value": 1]],
                settings: Self.with + #", "heal": {"initial": "1h", "max": "1h"}"#
            ),
            TestHost.leaf("inner", ["name": .string(TestHost.unique()), "opens": "third"])
        )
        let report = await test.host.open()
        #expect(report["user"]?.state == .failed && report["inner"]?.state == .failed)
        #expect(report["user"]?.error?.message.hasPrefix("inner: the gate has failed") == true)
        try await test.host.retry("inner")
        try await test.host.retry("inner")
        let recovered = await test.host.report { $0["user"]?.state == .open }
        #expect(recovered.isReady)
        await test.host.close()
    }

    @Test func `a gate that uses a composite has an error only once no child of the composite works`() async throws {
        let test = try TestHost(
            #"{"name": "user", "plugin": "uses", "with": {"inner": "group"}, "probe": "off"}"#,
            TestHost.composite("group", "first", #"{"name": "place", "same": "inner"}"#, TestHost.leaf("other")),
            TestHost.leaf("inner", ["opens": "fails"])
        )
        let report = await test.host.open()
        #expect(report["group"]?.state == .degraded && report["user"]?.state == .open)
        #expect(try await Self.pass(test, "answer", ["value": "x"]) == "x")
        #expect(try test.gate("group/other").calls?.total == 1)
        try await test.host.close("group/other")
        #expect(try test.gate("user").error?.message.hasPrefix(#"uses group as "inner", which"#) == true)
        await test.host.close()
    }

    @Test func `a used composite gives its user a single result`() async throws {
        let test = try TestHost(
            #"{"name": "user", "plugin": "uses", "with": {"inner": "group"}, "probe": "off"}"#,
            TestHost.composite("group", "all", TestHost.leaf("a"), TestHost.leaf("b"))
        )
        #expect(await test.host.open().isReady)
        #expect(try await Self.pass(test, "answer", ["value": "x"]) == "x")
        #expect(try test.gate("group/a").calls?.total == 1 && test.gate("group/b").calls?.total == 1)
        await test.host.close()
    }

    @Test func `closing the user ends the calls that it has under way`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await Self.pass(
                    test,
                    "begin",
                    ["name": .string(name)],
                    options: CallOptions(timeout: .seconds(3600))
                )
            }
        }
        try await TestHost.taken(name)
        async let closing: Void = test.host.close("user")
        try await test.advance(by: .seconds(1), until: .closed, "user")
        try await closing
        #expect(try await task.value.code == .notOpen)
        try await test.counts("inner", "cancels", reach: 1)
        #expect(try test.gate("user").misbehaviourCount == 0)
        await test.host.close()
    }

    @Test func `closing the used gate ends the calls in it`() async throws {
        let test = try await Self.opened()
        let name = TestHost.unique()
        let task = Task {
            try await failure { () async throws(ConnectorError) in
                try await Self.pass(
                    test,
                    "begin",
                    ["name": .string(name)],
                    options: CallOptions(timeout: .seconds(3600))
                )
            }
        }
        try await TestHost.taken(name)
        async let closing: Void = test.host.close("inner")
        try await test.advance(by: .seconds(1), until: .closed, "inner")
        try await closing
        let error = try await task.value
        #expect(error.code == .notOpen && error.message.hasPrefix("inner: "))
        await test.host.close()
    }

    @Test func `a use that cannot be bound fails its gate, and no other`() async throws {
        let test = try TestHost(TestHost.leaf("user", plugin: "uses"), TestHost.leaf("a"), TestHost.leaf("b"))
        let report = await test.host.open()
        #expect(report["user"]?.state == .failed && report["a"]?.state == .open)
        let count = PendingCalls.areRemote ? 3 : 2
        #expect(report["user"]?.error?.message.contains("\(count) connectors offer it: a, b") == true)
        #expect(
            report["user"]?.plugin?.id == "uses" && report["user"]?.capabilities["uses/1"]?.contains("pass") == true
        )
        await test.host.close()
    }

    @Test func `the conformance suite provides stand-ins for what a plugin uses`() async {
        let calls = Journal<String>()
        let options = PluginConformance.Options(
            config: ["opens": ["value": 1]],
            gates: [
                "inner": { operation, arguments throws(ConnectorError) in
                    calls.note("\(operation) \(arguments)")
                    return true
                }
            ],
            timeout: .seconds(20)
        )
        #expect(await PluginConformance.check(Fixtures.contract("uses"), options: options) == [])
        #expect(Set(calls.values) == [#"answer {"value":1}"#])
        #expect(await PluginConformance.check(Fixtures.contract("uses"), options: .init(timeout: .seconds(20))) == [])
    }

    @Test func `a plugin that declares no uses has no table of gates`() {
        let services = GateServices(
            host: HostServices(),
            context: GateServices.Context(path: "gate", services: ["gates/1"], logger: Logger(label: "test"))
        )
        #expect(unsafe services.table(named: "gates/1") == nil)
    }
}
