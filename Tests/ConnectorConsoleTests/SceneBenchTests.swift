// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorBase
import ConnectorConsole
import ConnectorHost
import ConnectorHostTesting
import Testing

/// Scenes on the bench that applications' tests use.
@Suite struct SceneBenchTests {
    private let sites = Sites()

    @Test func `a test goes to a route, acts, and looks again`() async throws {
        var bench = await SceneBench(EmptyConsoleModel(), sites.registry(), at: Route(Sites.Place.list))
        #expect(bench.text.contains("bonn | 25.0") && bench.text.contains("loading …"))
        try await bench.act("remove bonn")
        #expect(bench.question == "Remove it?" && bench.scene.component("list")?.rows.count == 2)
        await bench.answer(false)
        #expect(bench.question == nil)
        try await bench.act("remove bonn")
        await bench.answer(true)
        #expect(bench.message == "removed bonn" && bench.scene.component("list")?.rows.map(\.id) == ["berlin"])
    }

    @Test func `a form is filled in, and its act opens the next route`() async throws {
        var bench = await SceneBench(EmptyConsoleModel(), sites.registry(), at: Route(Sites.Place.list))
        try await bench.fill("add")
        #expect(bench.fieldErrors == ["name": "name is missing"])
        try await bench.fill("add", ["name": "kiel", "limit": "0"])
        #expect(bench.fieldErrors == ["limit": "must be positive"])
        try await bench.fill("add", ["name": "kiel"])
        #expect(bench.fieldErrors.isEmpty && bench.coordinator.route == Route(Sites.Place.site("kiel")))
        #expect(bench.text.contains("now: 30.0"), "the scene in its slot")
        try await bench.act("double")
        #expect(bench.message == "doubled kiel" && bench.text.contains("now: 60.0"))
        await bench.move(to: Sites.Place.within("kiel", tab: 1))
        #expect(bench.text.contains("later: 60.0"))
        await bench.back()
        #expect(bench.coordinator.route == Route(Sites.Place.site("kiel")))
    }

    @Test func `a slow act is pending until the test lets it end`() async throws {
        let (steps, step) = AsyncStream.makeStream(of: Void.self)
        let registry = sites.registry { for await _ in steps { throw ConnectorError(.unavailable, "it is closed") } }
        var bench = await SceneBench(EmptyConsoleModel(), registry, at: Route(Sites.Place.list))
        try await bench.begin("wait")
        #expect(bench.scene.act("wait at /sites")?.state.isPending == true && bench.message == "wait …")
        step.yield()
        await bench.finish()
        #expect(bench.message == "wait failed: it is closed [unavailable]")
        #expect(bench.scene.act("wait at /sites")?.state.isFailed == true)
    }

    @Test func `asking a scene for what it does not offer fails, and the error names what it offers`() async throws {
        var bench = await SceneBench(EmptyConsoleModel(), sites.registry(), at: Route(["limit", "bonn", "now"]))
        let act = await #expect(throws: ConnectorError.self) { try await bench.act("halve") }
        #expect(act?.code == .missing && act?.fix == "the scene offers double at /limit/bonn/now")
        let form = await #expect(throws: ConnectorError.self) { try await bench.fill("add") }
        #expect(form?.fix == "the scene offers none")
    }

    @Test func `the host's own scenes act on a mock host`() async throws {
        let error = ConnectorError(.unauthorized, "the key was refused")
        let host = MockHostModel([GateReport(path: "geocoder", state: .failed, error: error)])
        var bench = await SceneBench(host, at: .gate("geocoder"))
        #expect(bench.text.contains("the key was refused"))
        try await bench.act("retry geocoder")
        #expect(host.acts.map(\.verb) == [.retry] && bench.message == "retry geocoder: done")
        host.report.gates[0] = GateReport(path: "geocoder", state: .open)
        await bench.refresh()
        #expect(bench.text.contains("✓ open"))
    }

    @Test func `an act on the host that fails is shown as failed`() async throws {
        let host = MockHostModel([GateReport(path: "a", state: .open)]) { act in
            .failure(of: act, ConnectorError(.timedOut, "nobody came"))
        }
        var bench = await SceneBench(host, at: .gate("a"))
        try await bench.act("retry a")
        #expect(bench.scene.act("retry gate a")?.state == .failed("retry a failed: nobody came [timed-out]"))
    }
}
