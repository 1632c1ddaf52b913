// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorConsole
@testable import ConnectorHost

/// What both consoles show of runners, their sandboxes and circuit breakers.
@Suite struct RunnerSceneTests {
    private func snapshot(_ sandbox: String) -> ConsoleSnapshot {
        var gate = Mock.gate("shop")
        gate.isolation = .process
        gate.sandbox = sandbox
        gate.crashCount = 2
        gate.standby = StandbyReport(state: .ready, process: 4712, takeovers: 2)
        gate.breaker = BreakerReport(state: .open, failures: 5, openings: 1, refusals: 12, nextTrialAt: Mock.now)
        gate.promotion = Promotion(reason: "the process ended", at: Mock.ago(60), until: Mock.now)
        var report = Report(gates: [gate], state: .open)
        report.runners = [
            RunnerReport(name: "shop", process: 4711, memory: 4_700_000, restarts: 2, connectors: ["shop"]),
            RunnerReport(name: "shop", process: 4712, standbys: ["shop"]),
        ]
        return ConsoleSnapshot(time: Mock.now, report: report)
    }

    @Test func `the gates have a table of runners, with their memory and restarts`() throws {
        let scene = ConsoleRegistry.standard.scene(for: .gates, of: snapshot("sandbox: filter, landlock 7, namespaces"))
        let runners = try #require(scene.components.last)
        #expect(runners.title == "Runners")
        #expect(
            runners.rows.map { $0.cells.map(\.text) } == [
                ["shop", "4711", "4.7 MB", "2", "shop", "filter, landlock 7, namespaces"],
                ["shop", "4712", "–", "0", "shop (standby)", "filter, landlock 7, namespaces"],
            ]
        )
        #expect(runners.rows[0].link == .gate("shop"))
        #expect(ConsoleRegistry.standard.scene(for: .gates, of: Mock.snapshot()).components.count == 2)
    }

    @Test func `a gate shows its runner, its sandbox, its breaker and why it was promoted`() {
        let text = ConsoleRegistry.standard.scene(for: .gate("shop"), of: snapshot("sandbox: filter")).text
        for line in [
            "sandbox | filter", "runner | shop, process 4711, 4.7 MB, 2 restarts",
            "standby | ready, process 4712, 2 takeovers",
            "breaker | open until \(Mock.now), 5 failures in a row; opened once, 12 calls refused",
            "promoted | in a runner until \(Mock.now), because the process ended (\(Mock.ago(60)))",
        ] {
            #expect(text.contains(line), "\(line)")
        }
    }

    @Test(arguments: [("sandbox: off", "off"), ("no sandbox: macOS", "no sandbox: macOS")])
    func `a runner without a sandbox is shown in red`(_ sandbox: String, _ text: String) throws {
        let snapshot = snapshot(sandbox)
        for route in [Route.gates, .gate("shop")] {
            let scene = ConsoleRegistry.standard.scene(for: route, of: snapshot)
            let cells = scene.components.flatMap(\.rows).flatMap(\.cells)
            let cell = try #require(cells.first { $0.text == text })
            #expect(cell == StyledText(text, .bad))
        }
    }
}
