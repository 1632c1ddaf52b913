// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost

/// One gate that stands in several places of the tree.
@Suite(.timeLimit(.minutes(5))) struct SharedGateTests {
    private static let queued = #""probe": "off", "outbox": {"batch": {"count": 1}}"#
    private static let place = #"{"name": "b", "same": "a"}"#

    private func test(_ policy: String, _ more: String...) throws -> TestHost {
        try TestHost(
            TestHost.composite("group", policy, ([Self.place] + more).joined(separator: ",")),
            TestHost.leaf("a", plugin: "deliveries", ["away": 0], settings: Self.queued)
        )
    }

    @Test func `there is one gate, whose one report is found under each of its paths`() async throws {
        let test = try test("first")
        let report = await test.host.open()
        #expect(report.isReady)
        #expect(report.gates.map(\.path) == ["group", "a"])
        #expect(report["group/b"]?.path == "a" && report["a"]?.places == ["group/b"])
        #expect(report["group"]?.state == .open)
        #expect(test.host.current.tree.gates.count == 1)
        #expect(try test.host.current.node("group/b").node === test.host.current.node("a").node)
        #expect(report.json["gates"]?.array?.last?["places"] == ["group/b"])
        #expect(Report(json: report.json)?["group/b"]?.path == "a")
        await test.host.close()
    }

    @Test(arguments: ["all", "first", "fastest", "sequence", "compare"])
    func `a call through a composite reaches the gate`(_ policy: String) async throws {
        let test = try test(policy)
        await test.host.open()
        try await test.call("group", "last")
        try await test.call("group/b", "last")
        #expect(test.host.report["a"]?.calls?.total == 2)
        await test.host.close()
    }

    @Test func `an event for a composite with the gate in two places is delivered once`() async throws {
        let test = try test("all", TestHost.composite("below", "all", #"{"name": "c", "same": "a"}"#))
        await test.host.open()
        let receipt = try await test.host.analytics("group").track("Seen")
        #expect(receipt.connectors == ["a"])
        try await receipt.delivered()
        #expect(test.host.outbox(of: "group/b")?.delivered == 1)
        #expect(test.host.report["a"]?.places == ["group/b", "group/below/c"])
        await test.host.close()
    }

    @Test
    func `nested composites with the policy all call a shared gate once, and one with the policy first calls it again`()
        async throws
    {
        let below = TestHost.composite("below", "all", #"{"name": "c", "same": "a"}"#)
        let test = try test("all", below, TestHost.composite("first", "first", #"{"name": "d", "same": "a"}"#))
        await test.host.open()
        let answer = try await test.call("group", "last")
        // Once for the places that `all` composites share, once for `first`, which chooses by itself.
        #expect(test.host.report["a"]?.calls?.total == 2)
        #expect(answer["a"]?["result"] != nil && answer["group/below"]?["result"]?["a"] != nil)
        await test.host.close()
    }

    @Test func `closing or opening a gate at one of its places does so at all of them`() async throws {
        let test = try test("first")
        await test.host.open()
        try await test.host.close("group/b")
        #expect(test.state("a") == .closed && test.state("group") == .closed)
        try await test.host.open("group")
        #expect(test.state("a") == .open && test.state("group") == .open)
        await test.host.close()
    }

    @Test func `a connector that takes over a place of a shared gate counts its own calls alone`() async throws {
        let shared = TestHost.leaf("a")
        let test = try await TestHost.opened(shared, TestHost.composite("group", "first", Self.place))
        try await test.call("group/b", "answer", ["value": 1])
        let reload = try await test.reload(shared, TestHost.composite("group", "first", TestHost.leaf("b")))
        #expect(reload.isActive)
        try await test.call("group/b", "answer", ["value": 1])
        #expect(test.host.report["a"]?.calls?.total == 1)
        #expect(test.host.report["group/b"]?.calls?.total == 1)
        let paths = test.host.metrics.filter { $0.definition == .callDuration }.map { $0.attributes.first?.value }
        #expect(paths.count { $0 == "group/b" } == 1)
        await test.host.close()
    }

    @Test func `a gate is required if any of its places is`() async throws {
        let test = try TestHost(
            TestHost.leaf("a", settings: #""probe": "off", "required": false"#),
            TestHost.composite("group", "all", Self.place)
        )
        #expect(test.host.report["a"]?.isRequired == true)
    }
}
