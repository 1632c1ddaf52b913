// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Testing

@testable import ConnectorConsole
@testable import ConnectorHost

/// What the console shows of gates that use gates.
@Suite
struct UsesSceneTests {
    @Test func `a gate shows what it uses, and why that degrades it`() {
        var snapshot = Mock.snapshot()
        snapshot.report.gates[1].uses = ["settings": "preferences", "crash": "crash"]
        snapshot.report.gates[1].state = .degraded
        snapshot.report.gates[1].error = ConnectorError(.notOpen, #"uses preferences as "settings", which has failed"#)
        let scene = ConsoleRegistry.standard.scene(for: .gate("analytics/segment"), of: snapshot)
        #expect(scene.text.contains("uses | crash, preferences as settings"))
        #expect(scene.text.contains(#"uses preferences as "settings", which has failed"#))
        let list = ConsoleRegistry.standard.scene(for: .gates, of: snapshot)
        #expect(list.text.contains(#"uses preferences as "settings", which has failed"#))
    }
}
