// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorConsole
import ConnectorHost
import ConnectorHostTesting
import Foundation
import SiteWatchModel
import SiteWatchScenes
import Testing

/// What the platforms show, as values, without one of them.
@Suite(.timeLimit(.minutes(2))) struct SceneTests {
    /// Beside the package's manifest.
    private static let directory = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    @Test func `the list leads to a site, whose form changes the bounds`() async throws {
        let state = FileManager.default.temporaryDirectory.path + "/site-watch-\(UUID().uuidString)"
        let clock = ManualHostClock()
        let host = try SiteWatchHost.simulated(in: Self.directory, clock: clock, stateDirectory: state)
        try await host.open().requireReady()
        let watch = SiteWatch(HostSites(host), SettingsBounds(try host.settings("preferences")))
        let model = SiteWatchConsole(host, watch, PictureStore(try host.files("pictures")))
        var bench = await SceneBench(model, model.registry, at: Route(SiteRoute.list))
        #expect(bench.scene.component("sites")?.state == .loading)

        // Once the past has been read, nothing that happens is missed.
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        watch.onChange { continuation.yield() }
        let watching = Task { await watch.run() }
        for await _ in changes.prefix(watch.sites.flatMap(\.site.sensors).count) {}
        while watch.notices.isEmpty {
            clock.advance(by: .seconds(1))
            // The watch takes in on its own task what happened in that second.
            for _ in 0..<1000 where watch.notices.isEmpty { await Task.yield() }
        }
        await bench.refresh()
        let list = bench.scene
        #expect(list.component("sites")?.rows.map(\.id) == ["office", "cellar"])
        #expect(list.component("sites")?.rows.last?.link == Route(SiteRoute.site("cellar")))
        let notices = list.component("notices")?.rows.compactMap(\.cells.last?.text) ?? []
        #expect(notices.contains("cellar: battery 15 % is not at least 20"))

        await bench.move(to: SiteRoute.site("cellar"))
        let cellar = bench.scene
        #expect(cellar.component("picture")?.rows.first?.cells.first?.text.contains("____") == true)
        let chart = cellar.component("chart sites/cellar/alarm battery")
        #expect(chart?.shape == .chart && chart?.series.first?.values.contains(15) == true)
        try await bench.fill("bounds", ["sensor": "battery", "low": "9", "high": "1"])
        #expect(bench.fieldErrors == ["high": "high is below low"])
        try await bench.fill("bounds", ["sensor": "battery", "low": "10"])
        #expect(bench.fieldErrors.isEmpty && bench.message == "battery should be at least 10")
        #expect(watch.site("cellar")?.measures.first { $0.name == "battery" }?.bounds == Bounds(low: 10))
        watching.cancel()
        await host.close()
    }

    @Test func `a route survives a round trip through text, and an unknown one is not a place`() {
        #expect(Route(SiteRoute.site("cellar")).value(as: SiteRoute.self) == .site("cellar"))
        #expect(Route(SiteRoute.list).value(as: SiteRoute.self) == .list)
        #expect(SiteRoute(parts: ["a", "b"]) == nil)
    }
}
