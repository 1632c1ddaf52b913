// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorHost
import ConnectorHostTesting
import Integrator
import SearchModel
import Synchronization
import Testing

/// The search without a host, a file or a network.
@Suite struct PlaceSearchTests {
    /// What was shown, in order.
    private final class Screen: Sendable {
        private let lines = Mutex<[String]>([])
        var shown: [String] { lines.withLock(\.self) }

        func show(_ text: String, _ suggestions: PlaceSearch.Suggestions) {
            lines.withLock { $0.append("\(text) \(suggestions)") }
        }
    }

    /// A clock whose pauses last until the test ends them.
    private final class Pauses: Clock {
        private let time = ContinuousClock()
        private let areOver = Mutex(false)
        var now: ContinuousClock.Instant { time.now }
        var minimumResolution: Swift.Duration { time.minimumResolution }

        func end() { areOver.withLock { $0 = true } }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Swift.Duration?) async throws {
            while !areOver.withLock(\.self) {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
    }

    /// A geocoder that is away, and counts how often it is asked.
    private final class AwayGeocoder: Geocoder {
        private let count = Mutex(0)
        var calls: Int { count.withLock(\.self) }

        func geocode(_ request: GeocodeRequest, options: CallOptions) async throws(ConnectorError) -> [Place] {
            count.withLock { $0 += 1 }
            throw ConnectorError(.unavailable, "the vendor is away", isRetryable: true)
        }

        func reverse(
            _ coordinate: Coordinate,
            limit: Int,
            language: String?,
            options: CallOptions
        ) async throws(ConnectorError) -> [Place] { [] }
    }

    private static let places = [("Berlin, Germany", 52.516, 13.378), ("Bern, Switzerland", 46.948, 7.447)].compactMap {
        address,
        latitude,
        longitude in
        Coordinate(latitude: latitude, longitude: longitude).map {
            Place($0, formattedAddress: address, provider: "test")
        }
    }

    @Test func `only the last text is looked up, and cached places show first`() async {
        let (screen, pauses) = (Screen(), Pauses())
        let search = PlaceSearch(InMemoryGeocoder(Self.places), clock: pauses, show: screen.show)
        search.type("B")
        search.type("Be")
        let last = search.type("Berl")
        pauses.end()
        await last.finish()
        #expect(screen.shown == [#"Berl found(["Berlin, Germany"])"#])
        await search.type("Berl").finish()
        #expect(
            screen.shown.dropFirst() == [
                #"Berl cached(["Berlin, Germany"])"#, #"Berl found(["Berlin, Germany"])"#,
            ]
        )
    }

    @Test func `a geocoder that fails is asked again, and then its reason is shown`() async {
        let (screen, pauses, geocoder) = (Screen(), Pauses(), AwayGeocoder())
        pauses.end()
        let search = PlaceSearch(geocoder, clock: pauses, show: screen.show)
        await search.type("Bern").finish()
        #expect(geocoder.calls == 2)
        #expect(screen.shown == [#"Bern failed("the vendor is away")"#])
    }
}
