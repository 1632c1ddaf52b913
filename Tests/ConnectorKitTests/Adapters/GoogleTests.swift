// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import google

/// The adapter of Google's Geocoding API.
@Suite struct GoogleTests {
    private func google(_ http: ScriptedHTTP) throws -> Google {
        let configuration = PluginConfiguration(json: ["endpoint": "http://vendor.example", "key": "{{secret:key}}"])
        return try Google(configuration: configuration, host: .scripted(http))
    }

    private let result = #"""
        {"status":"OK","results":[{"formatted_address":"Berlin, Germany","place_id":"p","types":["locality"],
          "geometry":{"location":{"lat":52.5,"lng":13.4},
            "viewport":{"southwest":{"lat":52.3,"lng":13.0},"northeast":{"lat":52.6,"lng":13.7}}},
          "address_components":[{"long_name":"Berlin","types":["locality"]},
            {"long_name":"Germany","short_name":"DE","types":["country","political"]}]}]}
        """#

    @Test func `a result becomes a place`() async throws {
        let http = ScriptedHTTP((200, result))
        let request = GeocodeRequest(.text("Berlin"), language: "en", countries: ["DE"])
        let place = try #require(try await google(http).geocode(request).first)
        #expect(place.name == "Berlin")
        #expect(place.components.city == "Berlin")
        #expect(place.components.countryCode == "DE")
        #expect(place.boundingBox == BoundingBox(south: 52.3, west: 13, north: 52.6, east: 13.7))
        #expect(
            http.requests[0].url.description == "http://vendor.example/maps/api/geocode/json?address=Berlin"
                + "&components=country%3ADE&language=en&key={{secret:key}}"
        )
    }

    @Test(arguments: [
        ("OVER_QUERY_LIMIT", PluginStatus.rateLimited, true), ("OVER_DAILY_LIMIT", .rateLimited, false),
        ("REQUEST_DENIED", .unauthorized, false), ("INVALID_REQUEST", .invalid, false),
        ("UNKNOWN_ERROR", .unavailable, true), ("SOMETHING_NEW", .failed, false),
    ])
    func `the status in the body decides`(_ status: String, _ expected: PluginStatus, _ isRetryable: Bool) async throws
    {
        let google = try google(ScriptedHTTP((200, #"{"status":"\#(status)","error_message":"words"}"#)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected)
        #expect(error?.isRetryable == isRetryable)
        #expect(error?.message == "google answered \(status): words")
    }

    @Test func `no results are no error`() async throws {
        let google = try google(ScriptedHTTP((200, #"{"status":"ZERO_RESULTS","results":[]}"#)))
        #expect(try await google.geocode(GeocodeRequest(.text("a"))).isEmpty)
    }

    @Test func `opening proves the key, probing costs nothing`() async throws {
        #expect(try await google(ScriptedHTTP((200, result))).open().map(\.kind) == [.authenticated])
        let http = ScriptedHTTP((400, #"{"status":"INVALID_REQUEST"}"#))
        #expect(try await google(http).probe().map(\.kind) == [.reachable])
        #expect(http.requests[0].url.value(of: "address") == nil)
        let refused = try google(ScriptedHTTP((200, #"{"status":"REQUEST_DENIED"}"#)))
        await #expect(throws: PluginError.self) { try await refused.probe() }
    }

    @Test(arguments: [(500, "<html>", PluginStatus.unavailable), (200, "<html>", .protocolViolation)])
    func `an answer without a status fails`(_ http: Int, _ body: String, _ expected: PluginStatus) async throws {
        let google = try google(ScriptedHTTP((http, body)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected)
    }
}
