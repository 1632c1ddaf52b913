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
        ("OVER_QUERY_LIMIT", PluginStatus.rateLimited, true), ("OVER_DAILY_LIMIT", .rateLimited, true),
        ("REQUEST_DENIED", .unauthorized, false), ("INVALID_REQUEST", .invalid, false),
        ("UNKNOWN_ERROR", .unavailable, true), ("SOMETHING_NEW", .failed, false),
    ])
    func `the status in the body decides about an error`(
        _ status: String,
        _ expected: PluginStatus,
        _ isRetryable: Bool
    ) async throws {
        let google = try google(ScriptedHTTP((200, #"{"status":"\#(status)","error_message":"words"}"#)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected)
        #expect(error?.isRetryable == isRetryable)
        #expect(error?.message == "google answered \(status): words")
    }

    @Test(arguments: [(503, PluginStatus.unavailable), (429, .rateLimited)])
    func `a failure in a gateway's words goes by its HTTP status`(_ status: Int, _ expected: PluginStatus) async throws
    {
        let google = try google(ScriptedHTTP((status, #"{"status":"error"}"#)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected && error?.isRetryable == true)
    }

    @Test func `an answer without results is not an error`() async throws {
        let google = try google(ScriptedHTTP((200, #"{"status":"ZERO_RESULTS","results":[]}"#)))
        #expect(try await google.geocode(GeocodeRequest(.text("a"))).isEmpty)
    }

    @Test func `opening proves the key without a request that Google bills`() async throws {
        let (incomplete, denied) = (#"{"status":"INVALID_REQUEST"}"#, #"{"status":"REQUEST_DENIED"}"#)
        let checked = ScriptedHTTP((400, incomplete), (200, denied), (400, incomplete))
        let google = try google(checked)
        #expect(try await google.open().map(\.kind) == [.reachable, .authenticated])
        #expect(try await google.probe().map(\.kind) == [.reachable, .authenticated])
        #expect(checked.requests.map { $0.url.value(of: "key") == "{{secret:key}}" } == [true, false, true])
        #expect(checked.requests.allSatisfy { $0.url.value(of: "address") == nil })
        // An API that checks the address before the key seems to accept any key.
        let unchecked = try self.google(ScriptedHTTP((400, incomplete), (400, incomplete)))
        #expect(try await unchecked.open().map(\.kind) == [.reachable])
        let refused = try self.google(ScriptedHTTP((200, denied), (200, denied)))
        await #expect(throws: PluginError.self) { try await refused.open() }
        await #expect(throws: PluginError.self) { try await refused.probe() }
    }

    @Test func `a result that is nowhere on Earth does not hide the others`() async throws {
        let results = #"{"geometry":{"location":{"lat":91,"lng":1}}},{"geometry":{"location":{"lat":52.5,"lng":13.4}}}"#
        let google = try google(ScriptedHTTP((200, #"{"status":"OK","results":[\#(results)]}"#)))
        let places = try await google.geocode(GeocodeRequest(.text("a")))
        #expect(places.map(\.coordinate.longitude) == [13.4])
    }

    @Test(arguments: [
        (429, #"{"error":{"code":429,"message":"Quota exceeded"}}"#, PluginStatus.rateLimited, "Quota exceeded"),
        (403, "<html><title>Error 403 (Forbidden)</title>", .unauthorized, "Error 403 (Forbidden)"),
        (502, "no upstream", .unavailable, "no upstream"),
    ])
    func `the front end's words are told`(
        _ status: Int,
        _ body: String,
        _ expected: PluginStatus,
        _ words: String
    ) async throws {
        let google = try google(ScriptedHTTP((status, body)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected && error?.message == "google answered HTTP \(status): \(words)")
    }

    @Test func `no 404 is Google's`() async throws {
        let google = try google(ScriptedHTTP((404, #"{"message":"no Route matched"}"#)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == .protocolViolation && error?.isRetryable == true)
    }

    @Test(arguments: [(500, "<html>", PluginStatus.unavailable), (200, "<html>", .protocolViolation)])
    func `an answer without a status fails`(_ http: Int, _ body: String, _ expected: PluginStatus) async throws {
        let google = try google(ScriptedHTTP((http, body)))
        let error = await #expect(throws: PluginError.self) { try await google.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected)
    }
}
