// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import Testing

/// Requests for places, and places.
@Suite struct GeocoderModelTests {
    @Test(arguments: [
        (#"{}"#, "either a query or an address"), (#"{"query":" "}"#, "request.query is empty"),
        (#"{"query":"a","address":{"city":"b"}}"#, "either a query or an address"),
        (#"{"address":{"town":"b"}}"#, "request.address has no member \"town\""),
        (#"{"address":{"city":""}}"#, "request.address is empty"), (#"{"query":"a","limit":51}"#, "request.limit"),
        (#"{"query":"a","language":"d\r\nX: y"}"#, "request.language"),
        (#"{"query":"a","countries":["che"]}"#, "two letters of ISO 3166-1"),
    ])
    func `an empty, ambiguous or invalid request is refused`(_ text: String, _ expected: String) throws {
        let json = try JSONValue(parsing: text)
        let error = #expect(throws: ConnectorError.self) { try GeocodeRequest(json: json) }
        #expect(error?.message.contains(expected) == true, "\(error?.message ?? "")")
    }

    @Test func `countries are in upper case, whatever was written`() throws {
        #expect(try GeocodeRequest(json: ["query": "a", "countries": ["ch"]]).countries == ["CH"])
    }

    @Test(arguments: [(91.0, 0.0), (-90.1, 0), (0, 181), (.nan, 0), (.infinity, 0)])
    func `a point that is not on the earth is refused`(_ latitude: Double, _ longitude: Double) {
        #expect(Coordinate(latitude: latitude, longitude: longitude) == nil)
    }

    @Test func `a place is read and written without loss`() throws {
        var components = AddressComponents()
        components.city = "Bern"
        components.countryCode = "CH"
        let place = Place(
            try #require(Coordinate(latitude: 46.9466, longitude: 7.4446)),
            name: "Bundesplatz",
            formattedAddress: "Bundesplatz, Bern",
            components: components,
            boundingBox: BoundingBox(south: 46, west: 7, north: 47, east: 8),
            provider: "test",
            attribution: "©",
            id: "1"
        )
        #expect(try Place.places(json: [place.json]) == [place])
    }

    @Test func `an answer that is no array of places is refused`() {
        #expect(throws: ConnectorError.self) { try Place.places(json: ["places": []]) }
        #expect(throws: ConnectorError.self) { try Place.places(json: [["latitude": 1]]) }
    }
}
