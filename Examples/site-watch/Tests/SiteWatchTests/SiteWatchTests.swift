// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import Foundation
import SiteWatchModel
import Synchronization
import Testing

/// The watch with false sites, and with the file's sites in a simulated world.
@Suite(.timeLimit(.minutes(2))) struct SiteWatchTests {
    /// A server that tells what it is given.
    private struct FalseServer: SiteServer {
        let sites = [Site("lab", sensors: ["lab/probe"])]
        var past: [SensorReading] = []
        var news: [[SensorReading]] = []

        func history(of sensor: String) async throws -> [SensorReading] { past }

        func readings() -> AsyncStream<(sensor: String, readings: [SensorReading])> {
            AsyncStream { continuation in
                for readings in news { continuation.yield(("lab/probe", readings)) }
                continuation.finish()
            }
        }
    }

    /// Bounds in memory.
    private final class FalseStore: BoundsStore {
        private let kept = Mutex<[String: Bounds]>([:])

        func bounds(of sensor: String) async throws -> Bounds? { kept.withLock { $0[sensor] } }
        func setBounds(_ bounds: Bounds, of sensor: String) async throws { kept.withLock { $0[sensor] = bounds } }
    }

    /// Beside the package's manifest.
    private static let directory = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()

    private func reading(
        _ value: Double?,
        at second: UInt64,
        _ quality: SensorReading.Quality = .good
    ) throws -> SensorReading {
        let time = Timestamp(nanoseconds: second * 1_000_000_000)
        return try SensorReading("temperature", value, unit: "Cel", at: time, quality: quality)
    }

    @Test func `a site that leaves its bounds is noticed once, and so is its return`() async throws {
        let news = try [29, 31, 32, nil, 30].enumerated().map { second, value in
            [try reading(value, at: UInt64(second + 1), value == nil ? .bad : .good)]
        }
        let watch = SiteWatch(FalseServer(past: [try reading(20, at: 0)], news: news), FalseStore())
        await watch.run()
        #expect(
            watch.notices.map(\.text) == [
                "temperature 30 °C is again 5 to 30", "temperature 31 °C is not 5 to 30",
            ]
        )
        #expect(watch.sites[0].measures[0].readings.count == 6)
        #expect(watch.sites[0].outside.isEmpty)
    }

    @Test func `a reading that is already known, or older, changes nothing`() async throws {
        let watch = SiteWatch(
            FalseServer(past: [try reading(20, at: 5)], news: [[try reading(99, at: 4)], [try reading(99, at: 5)]]),
            FalseStore()
        )
        await watch.run()
        #expect(watch.sites[0].measures[0].readings.count == 1 && watch.notices.isEmpty)
    }

    @Test func `changed bounds are kept, and take effect at once`() async throws {
        let store = FalseStore()
        let watch = SiteWatch(FalseServer(past: [try reading(20, at: 0)]), store)
        await watch.run()
        try await watch.setBounds(Bounds(high: 15), of: "temperature")
        #expect(watch.notices.map(\.text) == ["temperature 20 °C is not at most 15"])
        #expect(try await store.bounds(of: "temperature") == Bounds(high: 15))
        let again = SiteWatch(FalseServer(past: [try reading(20, at: 0)]), store)
        await again.run()
        #expect(again.sites[0].outside.map(\.name) == ["temperature"])
    }

    @Test func `a minute of the simulated world takes no time, and settings outlive it`() async throws {
        let state = FileManager.default.temporaryDirectory.path + "/site-watch-\(UUID().uuidString)"
        let clock = ManualHostClock()
        let host = try SiteWatchHost.simulated(in: Self.directory, clock: clock, stateDirectory: state)
        try await host.open().requireReady()
        let watch = SiteWatch(HostSites(host), SettingsBounds(try host.settings("preferences")))
        #expect(watch.sites.map(\.site.name) == ["office", "cellar"])
        // Once the past has been read, nothing that happens is missed.
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        watch.onChange { continuation.yield() }
        let watching = Task { await watch.run() }
        for await _ in changes.prefix(watch.sites.flatMap(\.site.sensors).count) {}
        func notice(_ text: String) async {
            func isThere() -> Bool { watch.notices.contains { "\($0.site): \($0.text)" == text } }
            while !isThere() {
                clock.advance(by: .seconds(1))
                // The watch takes in on its own task what happened in that second.
                for _ in 0..<1000 where !isThere() { await Task.yield() }
            }
        }
        await notice("cellar: battery 15 % is not at least 20")
        await notice("cellar: battery 100 % is again at least 20")
        await notice("cellar: temperature 33 °C is not 5 to 30")
        try await watch.setBounds(Bounds(high: 60), of: "temperature")
        #expect(watch.notices.first?.text.hasSuffix("is again at most 60") == true)
        watching.cancel()
        await host.close()

        let second = try SiteWatchHost.simulated(in: Self.directory, clock: clock, stateDirectory: state)
        await second.open()
        #expect(try await SettingsBounds(second.settings("preferences")).bounds(of: "temperature") == Bounds(high: 60))
        #expect(try await PictureStore(second.files("pictures")).picture(of: "cellar")?.contains("____") == true)
        await second.close()
    }

    @Test func `a picture is read again only when it has changed`() async throws {
        let files = InMemoryFiles()
        let pictures = PictureStore(files)
        #expect(try await pictures.picture(of: "lab") == nil)
        try await files.put("lab.txt", .bytes(Array("[]".utf8)))
        #expect(try await pictures.picture(of: "lab") == "[]")
        // What is known is shown while the gate is away.
        files.error = ConnectorError(.unavailable, "away", isRetryable: true)
        #expect(try await pictures.picture(of: "lab") == "[]")
        files.error = nil
        try await files.put("lab.txt", .bytes(Array("[][]".utf8)))
        #expect(try await pictures.picture(of: "lab") == "[][]")
    }
}
