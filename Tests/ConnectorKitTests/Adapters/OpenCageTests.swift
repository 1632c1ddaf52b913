// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import opencage

/// The adapter of OpenCage's geocoding API.
@Suite struct OpenCageTests {
    private func opencage(_ http: ScriptedHTTP) throws -> OpenCage {
        let configuration = PluginConfiguration(json: ["endpoint": "http://vendor.example", "key": "{{secret:key}}"])
        return try OpenCage(configuration: configuration, host: .scripted(http))
    }

    private let result = #"""
        {"results":[{"bounds":{"northeast":{"lat":52.6,"lng":13.7},"southwest":{"lat":52.3,"lng":13.0}},
          "components":{"ISO_3166-1_alpha-2":"DE","_type":"city","city":"Berlin","country":"Germany","country_code":"de"},
          "formatted":"Berlin, Germany","geometry":{"lat":52.5,"lng":13.4}}],
          "status":{"code":200,"message":"OK"},"total_results":1}
        """#
    private let missing = #"{"results":[],"status":{"code":400,"message":"missing or bad query"}}"#
    private let refused = #"{"results":[],"status":{"code":401,"message":"invalid API key"}}"#

    @Test func `a result becomes a place`() async throws {
        let http = ScriptedHTTP((200, result))
        let request = GeocodeRequest(.text("Berlin"), limit: 3, language: "en", countries: ["DE", "AT"])
        let place = try #require(try await opencage(http).geocode(request).first)
        #expect(place.name == "Berlin")
        #expect(place.components.city == "Berlin")
        #expect(place.components.countryCode == "DE")
        #expect(place.formattedAddress == "Berlin, Germany")
        #expect(place.boundingBox == BoundingBox(south: 52.3, west: 13, north: 52.6, east: 13.7))
        #expect(
            http.requests[0].url.description == "http://vendor.example/geocode/v1/json?q=Berlin&limit=3&language=en"
                + "&countrycode=de%2Cat&no_annotations=1&no_record=1&key={{secret:key}}"
        )
    }

    @Test func `a point is asked for as a query`() async throws {
        let http = ScriptedHTTP((200, result))
        let point = try #require(Coordinate(latitude: 52.5, longitude: -13.4))
        #expect(try await opencage(http).reverse(ReverseRequest(point)).count == 1)
        #expect(http.requests[0].url.value(of: "q") == "52.5,-13.4")
    }

    @Test func `opening proves the key without a query`() async throws {
        let checked = ScriptedHTTP((400, missing), (401, refused), (400, missing))
        let opencage = try opencage(checked)
        #expect(try await opencage.open().map(\.kind) == [.reachable, .authenticated])
        #expect(try await opencage.probe().map(\.kind) == [.reachable, .authenticated])
        #expect(checked.requests.map { $0.url.value(of: "key") == "{{secret:key}}" } == [true, false, true])
        #expect(checked.requests.allSatisfy { $0.url.value(of: "q") == nil })
        // An API that checks the query before the key seems to accept any key.
        let unchecked = try self.opencage(ScriptedHTTP((400, missing), (400, missing)))
        #expect(try await unchecked.open().map(\.kind) == [.reachable])
        let wrong = try self.opencage(ScriptedHTTP((401, refused)))
        let error = await #expect(throws: PluginError.self) { try await wrong.open() }
        #expect(error?.status == .unauthorized)
    }

    @Test(arguments: [
        (401, PluginStatus.unauthorized, false), (402, .rateLimited, true), (429, .rateLimited, true),
        (503, .unavailable, true), (410, .tooLarge, false),
    ])
    func `a failure has the vendor's words`(_ http: Int, _ expected: PluginStatus, _ isRetryable: Bool) async throws {
        let body = #"{"status":{"code":\#(http),"message":"words"},"rate":{"reset":5}}"#
        let opencage = try opencage(ScriptedHTTP((http, body)))
        let error = await #expect(throws: PluginError.self) { try await opencage.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == expected)
        #expect(error?.isRetryable == isRetryable)
        #expect(error?.message.contains("words") == true)
    }

    @Test func `a result that is nowhere on Earth does not hide the others`() async throws {
        let results = #"{"geometry":{"lat":52.5,"lng":181}},{"geometry":{"lat":52.5,"lng":13.4}}"#
        let answer = #"{"results":[\#(results)],"status":{"code":200}}"#
        let places = try await opencage(ScriptedHTTP((200, answer))).geocode(GeocodeRequest(.text("a")))
        #expect(places.map(\.coordinate.longitude) == [13.4])
    }

    @Test(arguments: [
        (Int64.min, Duration.zero), (5, .zero), (1_769_851_860, .seconds(60)),
        (.max, .seconds(Int64.max - 1_769_851_800)),
    ])
    func `a quota that is used up says when it is renewed`(_ reset: Int64, _ wait: Duration) async throws {
        let body = #"{"status":{"code":402,"message":"quota exceeded"},"rate":{"reset":\#(reset)}}"#
        let opencage = try opencage(ScriptedHTTP((402, body)))
        let error = await #expect(throws: PluginError.self) { try await opencage.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.retryAfter == wait)
    }

    @Test(arguments: [
        (200, "<html>"), (200, #"{"results":[{}],"status":{"code":200}}"#), (200, #"{"status":{"code":200}}"#),
        (404, #"{"message":"no Route matched"}"#), (410, "<html>"),
    ])
    func `an answer that is not OpenCage's breaks the protocol`(_ http: Int, _ body: String) async throws {
        let opencage = try opencage(ScriptedHTTP((http, body)))
        let error = await #expect(throws: PluginError.self) { try await opencage.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == .protocolViolation)
    }
}
