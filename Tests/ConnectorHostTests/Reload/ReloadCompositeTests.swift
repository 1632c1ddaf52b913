// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import ConnectorTestSupport
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation

/// Calls of a composite while a reload replaces what stands below it.
@Suite(.timeLimit(.minutes(5))) struct ReloadCompositeTests {
    private static let policies = ["all", "first", "fastest", "sequence", "compare", "shadow", "canary"]

    /// A composite of two leaves that only this generation of the file has.
    private func composite(_ policy: String, _ generation: Int) -> String {
        let leaves = ["one", "two"].map { TestHost.leaf("\($0)-\(generation)", settings: #""probe": "off""#) }
        return TestHost.composite("group", policy, leaves[0], leaves[1])
    }

    @Test(arguments: policies)
    func `no call fails while all children are replaced again and again`(_ policy: String) async throws {
        let test = try await TestHost.opened(composite(policy, 0))
        let client = try test.host.gate("group")
        let load = (0..<4).map { _ in repeating { _ = try await client.call("answer", ["value": 0]) } }
        for generation in 1...10 {
            let reload = try await test.reload(composite(policy, generation))
            #expect(reload.isActive && reload.errors.isEmpty)
        }
        // Before the tasks are cancelled, which may end a call at one of its children alone.
        let failure = test.host.report["group"]?.calls?.lastFailure
        #expect(failure == nil, "\(String(describing: failure))")
        for task in load { task.cancel() }
        for task in load { #expect(try await task.value > 0) }
        await test.host.close()
    }

    @Test(arguments: policies)
    func `a call that finds all children removed calls those that replaced them`(_ policy: String) async throws {
        let test = try await TestHost.opened(composite(policy, 0))
        let earlier = try test.host.current.node("group").node
        #expect(try await test.reload(composite(policy, 1)).isActive)
        let call = Node.Call(
            operation: "answer",
            arguments: CallArguments(["value": 0]),
            options: CallOptions(),
            in: test.host.current
        )
        #expect(try await earlier.call(call).outcomes.allSatisfy { $0.connector.hasSuffix("-1") })
        // A call that is bound to its tree does not look for others.
        var bound = call
        bound.tree = nil
        let error = try await failure { [bound] () throws(ConnectorError) in try await earlier.call(bound) }
        #expect(error.code == .notOpen || error.code == .unknownConnector)
        // A composite that is itself gone has no replacement.
        #expect(try await test.reload(TestHost.leaf("other")).isActive)
        let gone = try await failure { () throws(ConnectorError) in try await earlier.call(call) }
        #expect(gone.code == .notOpen || gone.code == .unknownConnector)
        await test.host.close()
    }

    @Test func `all leaves of a nested composite are called, though another one stood in their place before`()
        async throws
    {
        // Both the shared leaf and the last one of the next tree's inner composite are the fourth connector of their file.
        let shared = #"{"name": "shared", "same": "group/a"}"#
        let inner = TestHost.composite("inner", "all", leaf("c"), shared)
        let test = try await TestHost.opened(TestHost.composite("group", "all", inner, leaf("a")))
        let earlier = try test.host.current.node("group").node
        #expect(earlier.commonLeaves == [3])
        let next = TestHost.composite("inner", "all", leaf("e"), leaf("f"))
        #expect(try await test.reload(TestHost.composite("group", "all", next, leaf("h"))).isActive)
        #expect(try test.host.current.node("group/inner/f").node.index == 3)
        let call = Node.Call(
            operation: "answer",
            arguments: CallArguments(["value": 0]),
            options: CallOptions(),
            in: test.host.current
        )
        let answer = try await earlier.call(call)
        #expect(answer.outcomes.map(\.connector) == ["group/inner/e", "group/inner/f"])
        await test.host.close()
    }

    @Test func `a call that a removed leaf has taken ends there, and is not repeated`() async throws {
        let name = TestHost.unique("taken")
        let one = TestHost.leaf("one", ["replies": "later"], settings: #""probe": "off""#)
        let test = try await TestHost.opened(TestHost.composite("group", "first", one))
        let client = try test.host.gate("group")
        let call = Task { try await client.call("begin", ["name": .string(name)]) }
        try await TestHost.taken(name)
        let reloading = Task { try await test.reload(TestHost.composite("group", "first", leaf("two"))) }
        while test.host.report["group/two"] == nil { try await Task.checkedYield() }
        // The reload waits for the drain for a second.
        await test.clock.advance(toTimerAfter: .seconds(1))
        #expect(try await reloading.value.isActive)
        try await TestHost.finish(name)
        _ = try await call.value
        #expect(test.host.report["group/two"]?.calls == nil)
        await test.host.close()
    }

    // MARK: A composite that would no longer work

    private func leaf(_ name: String, opens: String = "at once") -> String {
        TestHost.leaf(name, opens == "at once" ? [:] : ["opens": .string(opens)], settings: #""probe": "off""#)
    }

    @Test(arguments: [("first", ""), ("fastest", ""), ("all", #""quorum": 1"#)])
    func `the only vendor of a composite is not replaced by one that does not open`(
        _ policy: String,
        _ settings: String
    ) async throws {
        let test = try await TestHost.opened(TestHost.composite("group", policy, leaf("one"), settings: settings))
        let client = try test.host.gate("group")
        let next = TestHost.composite("group", policy, leaf("two", opens: "fails"), settings: settings)
        let refused = try await test.reload(next)
        #expect(refused.phase == .open && refused.errors.first?.connector == "group/two", "\(refused.errors)")
        #expect(test.host.report.gates.map(\.path) == ["group", "group/one"])
        _ = try await client.call("answer", ["value": 0])
        // Beside one that works, it may fail.
        let beside = TestHost.composite(
            "group",
            policy,
            leaf("one"),
            TestHost.leaf("two", ["opens": "fails"], settings: #""probe": "off", "required": false"#),
            settings: settings
        )
        #expect(try await test.reload(beside).isActive)
        _ = try await client.call("answer", ["value": 0])
        // In the mode `each` it is replaced all the same.
        #expect(try await test.reload(next, mode: "each").isActive)
        #expect(test.host.report["group"]?.state != .open)
        // A composite that does not work anyway may be replaced by anything.
        #expect(try await test.reload(TestHost.composite("group", policy, leaf("three"), settings: settings)).isActive)
        _ = try await client.call("answer", ["value": 0])
        await test.host.close()
    }
}
