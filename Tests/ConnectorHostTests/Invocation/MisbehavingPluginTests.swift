// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHostTesting
import ConnectorManifest
import Testing

@testable import ConnectorHost
@testable import ConnectorInvocation
@testable import ConnectorPlatform

/// Plugins that break a rule, and the gates beside them.
@Suite(.timeLimit(.minutes(10))) struct MisbehavingPluginTests {
    @Test func `a gate that completes another gate's opening does not open that gate`() async throws {
        let test = try TestHost(
            TestHost.leaf("first", plugin: "foreign-operation", settings: #""timeout": "1s", "probe": "off""#),
            TestHost.leaf(
                "second",
                plugin: "foreign-operation",
                settings: #""timeout": "1s", "probe": "off""#
            )
        )
        async let opening = test.host.open()
        _ = await test.host.report { $0.gates.contains { $0.state == .open } }
        await test.clock.advance(toTimerAfter: .seconds(1))
        let report = await opening
        #expect(Set(report.gates.map(\.state)) == [.open, .failed])
        #expect(report.gates.first { $0.state == .open }?.misbehaviourCount == 1)
    }

    @Test(arguments: ["garbage-evidence", "unknown-operation", "null-table", "refuses-to-open"])
    func `a plugin that breaks a rule harms neither the host nor the gate beside it`(_ plugin: String) async throws {
        let test = try TestHost(
            TestHost.leaf("bad", plugin: plugin, settings: #""timeout": "1s", "probe": "off""#),
            TestHost.leaf("good")
        )
        let report = await test.host.open()
        let bad = try #require(report["bad"])
        #expect(bad.state == .failed || bad.misbehaviourCount > 0)
        #expect(try await test.call("good", "answer", ["value": 1]) == 1)
        await test.host.close()
        #expect(test.host.report.state == .closed)
    }
}
