// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorLoading
@testable import ConnectorPlatform
@testable import ConnectorServices

/// The shape of the tree, and the order it is walked in.
@Suite(.timeLimit(.minutes(10))) struct TreeTests {
    @Test func `the report has parents before their children, in the order of the file`() throws {
        let test = try TestHost(
            TestHost.composite("b", "all", TestHost.leaf("z"), TestHost.composite("y", "first", TestHost.leaf("x"))),
            TestHost.leaf("a")
        )
        #expect(test.host.report.gates.map(\.path) == ["b", "b/z", "b/y", "b/y/x", "a"])
        #expect(test.host.report["b/y"]?.policy == "first")
        #expect(test.host.report["b/y/x"]?.policy == nil)
        #expect(test.host.report["nowhere"] == nil)
    }

    @Test func `a long chain of gates opens in order, and closes in the reverse`() async throws {
        let count = 200
        let leaves = (0..<count).map { index in
            TestHost.leaf(
                "gate-\(index)",
                settings: index + 1 < count ? #""after": ["gate-\#(index + 1)"], "probe": "off""# : #""probe": "off""#
            )
        }
        let test = try TestHost(leaves.joined(separator: ","))
        let opened = Journal<String>()
        let closed = Journal<String>()
        let tree = test.host.current.tree
        await tree.forEachGate(.opening) { opened.note($0.plan.path) }
        await tree.forEachGate(.closing) { closed.note($0.plan.path) }
        #expect(opened.values == (0..<count).reversed().map { "gate-\($0)" })
        #expect(closed.values == (0..<count).map { "gate-\($0)" })
    }

    @Test func `gates that a walk leaves out do not change the order of the others`() async throws {
        let test = try TestHost(
            TestHost.leaf("last", settings: #""after": ["middle"], "probe": "off""#),
            TestHost.leaf("middle", settings: #""after": ["first"], "probe": "off""#),
            TestHost.leaf("first", settings: #""probe": "off""#)
        )
        let opened = Journal<String>()
        await test.host.current.tree.forEachGate(.opening, where: { $0.path != "middle" }) { gate in
            if gate.path == "first" { await Task.yield() }
            opened.note(gate.path)
        }
        #expect(opened.values == ["first", "last"])
    }

    @Test func `gates that do not wait for each other are walked at once`() async throws {
        let test = try TestHost((0..<20).map { TestHost.leaf("gate-\($0)") }.joined(separator: ","))
        let tree = test.host.current.tree
        let inside = Journal<String>()
        await tree.forEachGate(.opening) { gate in
            inside.note(gate.plan.path)
            // Nobody leaves before everybody is there.
            while inside.values.count < 20, !Task.isCancelled { await Task.yield() }
        }
        #expect(Set(inside.values).count == 20)
    }
}
