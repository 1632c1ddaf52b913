// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import nominatim

/// The adapter of Nominatim.
@Suite struct NominatimTests {
    private func nominatim(_ http: ScriptedHTTP, clock: StoppedClock = StoppedClock(), cache: Int64 = 2) throws
        -> Nominatim
    {
        try Nominatim(
            configuration: PluginConfiguration(json: [
                "endpoint": "http://vendor.example", "userAgent": "app/1 (me@example.com)", "requestsPerSecond": 1,
                "cacheSize": .integer(cache),
            ]),
            host: .scripted(http, clock: clock)
        )
    }

    private let berlin = #"""
        [{"lat":"52.5","lon":"13.4","osm_type":"relation","osm_id":62422,"name":"Berlin","display_name":"Berlin, Germany",
          "boundingbox":["52.3","52.6","13.0","13.7"],"address":{"city":"Berlin","country":"Germany","country_code":"de"},
          "licence":"Data © OpenStreetMap contributors"}]
        """#

    @Test func `numbers that are strings become a place`() async throws {
        let http = ScriptedHTTP((200, berlin))
        let place = try #require(try await nominatim(http).geocode(GeocodeRequest(.text("Berlin"))).first)
        #expect(place.coordinate == Coordinate(latitude: 52.5, longitude: 13.4))
        #expect(place.boundingBox == BoundingBox(south: 52.3, west: 13, north: 52.6, east: 13.7))
        #expect(place.components.countryCode == "DE")
        #expect(place.attribution == "Data © OpenStreetMap contributors")
        #expect(place.id == "R62422")
        #expect(http.requests[0].headers["User-Agent"] == "app/1 (me@example.com)")
    }

    @Test func `an address is asked for by its parts`() async throws {
        let http = ScriptedHTTP((200, "[]"))
        let address = GeocodeRequest.Address(street: "Platz 1", city: "Bern")
        let request = GeocodeRequest(.address(address), limit: 50, language: "de", countries: ["CH", "LI"])
        #expect(try await nominatim(http).geocode(request).isEmpty)
        let url = http.requests[0].url
        #expect(url.value(of: "street") == "Platz 1")
        #expect(url.value(of: "q") == nil)
        #expect(url.value(of: "countrycodes") == "ch,li")
        #expect(url.value(of: "limit") == "40")
        #expect(url.value(of: "accept-language") == "de")
    }

    @Test func `nothing at a point is not an error`() async throws {
        let point = try #require(Coordinate(latitude: 0, longitude: 0))
        let http = ScriptedHTTP((200, #"{"error":"Unable to geocode"}"#))
        #expect(try await nominatim(http).reverse(ReverseRequest(point)).isEmpty)
    }

    @Test func `requests keep a distance of one second`() async throws {
        let clock = StoppedClock()
        let nominatim = try nominatim(ScriptedHTTP((200, "[]"), (200, "[]"), (200, "[]")), clock: clock)
        for text in ["a", "b", "c"] { _ = try await nominatim.geocode(GeocodeRequest(.text(text))) }
        #expect(clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test func `a call whose turn would come after its deadline fails at once, and a proof relies on the last answer`()
        async throws
    {
        let clock = StoppedClock()
        let nominatim = try nominatim(ScriptedHTTP((200, "[]"), (200, "[]")), clock: clock)
        _ = try await nominatim.geocode(GeocodeRequest(.text("a")))
        try await Deadline.apply(500_000_000) { () async throws in
            let error = await #expect(throws: PluginError.self) {
                _ = try await nominatim.geocode(GeocodeRequest(.text("b")))
            }
            #expect(error?.status == .rateLimited && error?.retryAfter == .seconds(1))
            #expect(try await nominatim.open().map(\.kind) == [.reachable])
        }
        #expect(clock.sleeps.isEmpty)
        _ = try await nominatim.geocode(GeocodeRequest(.text("c")))
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test func `a cached answer is used until too many others have come`() async throws {
        let http = ScriptedHTTP((200, berlin), (200, "[]"), (200, "[]"), (200, berlin))
        let nominatim = try nominatim(http)
        for text in ["a", "a", "b", "a", "c", "a"] { _ = try await nominatim.geocode(GeocodeRequest(.text(text))) }
        #expect(http.requests.compactMap { $0.url.value(of: "q") } == ["a", "b", "c", "a"])
    }

    @Test func `a cached answer is used for a day, and one without a place for five minutes`() async throws {
        let clock = StoppedClock()
        let http = ScriptedHTTP((200, berlin), (200, "[]"), (200, berlin), (200, berlin))
        let nominatim = try nominatim(http, clock: clock)
        for wait in [Duration.zero, .seconds(299), .seconds(2), .seconds(86_000), .seconds(200)] {
            try await clock.sleep(for: wait)
            for text in ["a", "b"] { _ = try await nominatim.geocode(GeocodeRequest(.text(text))) }
        }
        #expect(http.requests.compactMap { $0.url.value(of: "q") } == ["a", "b", "b", "a"])
    }

    @Test func `nothing at a point is kept for five minutes, too`() async throws {
        let clock = StoppedClock()
        let point = try #require(Coordinate(latitude: 0, longitude: 0))
        let http = ScriptedHTTP((200, #"{"error":"Unable to geocode"}"#), (200, #"{"lat":"0","lon":"0"}"#))
        let nominatim = try nominatim(http, clock: clock)
        #expect(try await nominatim.reverse(ReverseRequest(point)).isEmpty)
        #expect(try await nominatim.reverse(ReverseRequest(point)).isEmpty)
        try await clock.sleep(for: .seconds(301))
        #expect(try await nominatim.reverse(ReverseRequest(point)).count == 1)
    }

    @Test func `a place that is nowhere on Earth does not hide the others`() async throws {
        let http = ScriptedHTTP((200, #"[{"lat":"91","lon":"1"},{"lat":"52.5","lon":"13.4"}]"#))
        let places = try await nominatim(http).geocode(GeocodeRequest(.text("a")))
        #expect(places.map(\.coordinate.longitude) == [13.4])
    }

    @Test func `no 404 is Nominatim's`() async throws {
        let gateway = (404, #"{"message":"no Route matched"}"#)
        let nominatim = try nominatim(ScriptedHTTP(gateway))
        let error = await #expect(throws: PluginError.self) {
            try await nominatim.geocode(GeocodeRequest(.text("a")))
        }
        #expect(error?.status == .protocolViolation && error?.isRetryable == true)
    }

    @Test func `bad parameters are invalid, in Nominatim's words`() async throws {
        let http = ScriptedHTTP((400, #"{"error":{"code":400,"message":"Parameter 'lat' missing."}}"#))
        let nominatim = try nominatim(http)
        let error = await #expect(throws: PluginError.self) {
            try await nominatim.geocode(GeocodeRequest(.text("a")))
        }
        #expect(error?.status == .invalid)
        #expect(error?.message.hasSuffix("Parameter 'lat' missing.") == true)
    }

    @Test(arguments: [#"{}"#, #"[{"lat":"x","lon":"1"}]"#, #"[{"lat":"91","lon":"1"}]"#, #"[1]"#, #"null"#])
    func `an answer that does not hold places breaks the protocol`(_ body: String) async throws {
        let nominatim = try nominatim(ScriptedHTTP((200, body)))
        let error = await #expect(throws: PluginError.self) {
            try await nominatim.geocode(GeocodeRequest(.text("a")))
        }
        #expect(error?.status == .protocolViolation)
    }

    @Test func `an application without a name is refused`() {
        #expect(throws: PluginError.self) {
            try Nominatim(
                configuration: PluginConfiguration(json: [
                    "endpoint": "http://vendor.example", "userAgent": " ", "requestsPerSecond": 1, "cacheSize": 0,
                ]),
                host: .scripted(ScriptedHTTP())
            )
        }
    }
}
