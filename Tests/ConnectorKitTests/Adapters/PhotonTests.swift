// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Testing

@testable internal import photon

/// The adapter of Photon.
@Suite struct PhotonTests {
    private func photon(_ http: ScriptedHTTP) throws -> Photon {
        let configuration = PluginConfiguration(json: ["endpoint": "http://vendor.example/"])
        return try Photon(configuration: configuration, host: .scripted(http))
    }

    private let features = #"""
        {"features":[
          {"geometry":{"coordinates":[13.4,52.5]},"properties":{"name":"Berlin","type":"city","countrycode":"DE",
            "osm_type":"R","osm_id":62422,"extent":[13.0,52.6,13.7,52.3],"country":"Germany"}},
          {"geometry":{"coordinates":[-71.2,44.4]},"properties":{"name":"Berlin","countrycode":"US"}}]}
        """#

    @Test func `coordinates are longitude first`() async throws {
        let place = try #require(
            try await photon(ScriptedHTTP((200, features))).geocode(GeocodeRequest(.text("B"))).first
        )
        #expect(place.coordinate == Coordinate(latitude: 52.5, longitude: 13.4))
        #expect(place.boundingBox == BoundingBox(south: 52.3, west: 13, north: 52.6, east: 13.7))
        #expect(place.components.city == "Berlin")
        #expect(place.formattedAddress == "Berlin, Germany")
        #expect(place.id == "R62422")
    }

    @Test func `places of other countries are left out`() async throws {
        let http = ScriptedHTTP((200, features))
        let places = try await photon(http).geocode(GeocodeRequest(.text("Berlin"), limit: 3, countries: ["US"]))
        #expect(places.map(\.components.countryCode) == ["US"])
        #expect(http.requests[0].url.value(of: "limit") == "50")
    }

    @Test func `an older server is asked for a place`() async throws {
        let http = ScriptedHTTP((404, "{}"), (200, features))
        #expect(try await photon(http).open().map(\.kind) == [.reachable])
        #expect(http.requests.map(\.url.description)[1] == "http://vendor.example/api?q=Bern&limit=1")
    }

    @Test(arguments: [#"{"message":"no such tag"}"#, #"{"osm_tag":[{"message":"no such tag","args":{}}]}"#])
    func `a refusal is invalid, in Photon's words`(_ body: String) async throws {
        let photon = try photon(ScriptedHTTP((400, body)))
        let error = await #expect(throws: PluginError.self) { try await photon.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == .invalid)
        #expect(error?.message.hasSuffix("no such tag") == true)
    }

    @Test func `no 404 is Photon's`() async throws {
        let gateway = (404, #"{"message":"no Route matched"}"#)
        let photon = try photon(ScriptedHTTP(gateway, gateway, gateway))
        let error = await #expect(throws: PluginError.self) { try await photon.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == .protocolViolation && error?.isRetryable == true)
        let refusal = await #expect(throws: PluginError.self) { try await photon.open() }
        #expect(refusal?.status == .protocolViolation)
    }

    @Test func `a language is a preference, which no server refuses`() async throws {
        let http = ScriptedHTTP((200, features), (200, features))
        _ = try await photon(http).geocode(GeocodeRequest(.text("a"), language: "pt-BR"))
        let point = try #require(Coordinate(latitude: 52.5, longitude: 13.4))
        _ = try await photon(http).reverse(ReverseRequest(point, language: "it"))
        #expect(http.requests.map { $0.headers["Accept-Language"] } == ["pt-BR", "it"])
        #expect(http.requests.allSatisfy { $0.url.value(of: "lang") == nil })
    }

    @Test func `a feature that is nowhere on Earth does not hide the others`() async throws {
        let points = #"{"geometry":{"coordinates":[181,52.5]}},{"geometry":{"coordinates":[13.4,52.5]}}"#
        let photon = try photon(ScriptedHTTP((200, #"{"features":[\#(points)]}"#)))
        let places = try await photon.geocode(GeocodeRequest(.text("a")))
        #expect(places.map(\.coordinate.longitude) == [13.4])
    }

    @Test(arguments: ["{}", #"{"features":[{}]}"#, #"{"features":[{"geometry":{"coordinates":[500,1]}}]}"#])
    func `an answer that does not hold places breaks the protocol`(_ body: String) async throws {
        let photon = try photon(ScriptedHTTP((200, body)))
        let error = await #expect(throws: PluginError.self) { try await photon.geocode(GeocodeRequest(.text("a"))) }
        #expect(error?.status == .protocolViolation)
    }
}
