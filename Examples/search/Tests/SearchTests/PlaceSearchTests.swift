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

    private static let places = [("Berlin, Germany", 52.516, 13.378), ("Bern, Switzerland", 46.948, 7.447)].compactMap {
        address,
        latitude,
        longitude in
        Coordinate(latitude: latitude, longitude: longitude).map {
            Place($0, formattedAddress: address, provider: "test")
        }
    }

    @Test func `only the last text is looked up, and what is known shows first`() async {
        let screen = Screen()
        let search = PlaceSearch(InMemoryGeocoder(Self.places), pause: .milliseconds(300), show: screen.show)
        search.type("B")
        search.type("Be")
        await search.type("Berl").finish()
        #expect(screen.shown == [#"Berl found(["Berlin, Germany"])"#])
        await search.type("Berl").finish()
        #expect(
            screen.shown.dropFirst() == [
                #"Berl cached(["Berlin, Germany"])"#, #"Berl found(["Berlin, Germany"])"#,
            ]
        )
    }

    @Test func `a geocoder that fails is tried again, then says why`() async {
        let (screen, geocoder) = (Screen(), InMemoryGeocoder(Self.places))
        geocoder.error = ConnectorError(.unavailable, "the vendor is away", isRetryable: true)
        let search = PlaceSearch(geocoder, pause: .zero, show: screen.show)
        await search.type("Bern").finish()
        #expect(screen.shown == [#"Bern failed("the vendor is away")"#])
    }
}
