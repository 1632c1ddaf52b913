// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Testing

@testable import ConnectorSimulator

@Suite struct GeocoderVendorTests {
    private let nominatim = NominatimVendor.demo()
    private let photon = PhotonVendor.demo()
    private let google = GoogleVendor.demo()

    @Test func `Nominatim finds a place and writes it in each format`() {
        let second = nominatim.respond(to: .get("/search?q=tour+eiffel,+paris&format=jsonv2&addressdetails=1")).json[0]
        #expect(second?["lat"] == "48.8582599")
        #expect(second?["category"] == "tourism")
        #expect(second?["class"] == nil)
        #expect(second?["address"]?["country_code"] == "fr")
        #expect(second?["boundingbox"]?.array?.count == 4)
        let first = nominatim.respond(to: .get("/search?q=Eiffel+Tower&format=json")).json[0]
        #expect(first?["class"] == "tourism")
        #expect(first?["address"] == nil)
        let geo = nominatim.respond(to: .get("/search?q=Eiffel+Tower&format=geojson")).json["features"]?[0]
        #expect(geo?["geometry"]?["coordinates"] == [2.2945006, 48.8582599])
        #expect(
            nominatim.respond(to: .get("/reverse?lat=48.8583&lon=2.2945")).text.contains("<country>France</country>")
        )
    }

    @Test func `Nominatim finds by parts of an address, country and number`() {
        let structured = nominatim.respond(to: .get("/search?city=berlin&country=germany&format=jsonv2")).json
        #expect(structured[0]?["name"] == "Berlin")
        #expect(nominatim.respond(to: .get("/search?q=berlin&countrycodes=fr")).json == [])
        #expect(nominatim.respond(to: .get("/lookup?osm_ids=R62422,W5013364,N1&format=json")).json.array?.count == 2)
        for limit in ["1", "0", "-1"] {
            #expect(nominatim.respond(to: .get("/search?q=tower&limit=\(limit)")).json.array?.count == 1)
        }
    }

    @Test func `Nominatim answers a place that it does not find with 200`() {
        #expect(nominatim.respond(to: .get("/search?q=qqqq&format=jsonv2")).json == [])
        let miss = nominatim.respond(to: .get("/reverse?lat=0&lon=-30&format=jsonv2"))
        #expect(miss.status == 200)
        #expect(miss.json == ["error": "Unable to geocode"])
        let city = nominatim.respond(to: .get("/reverse?lat=52.5163&lon=13.3777&format=jsonv2&zoom=10")).json
        #expect(city["name"] == "Berlin")
    }

    @Test(arguments: [
        "/search", "/search?q=&format=json", "/search?q=a&format=png", "/search?q=a&limit=x", "/search?q=a&city=b",
        "/reverse?lat=1&format=json", "/reverse?lat=x&lon=1", "/reverse?lat=91&lon=1", "/reverse?lat=nan&lon=1",
        "/lookup",
    ])
    func `Nominatim refuses wrong parameters`(target: String) {
        let response = nominatim.respond(to: .get(target))
        #expect(response.status == 400)
        #expect(response.json["error"]?["code"] == 400)
        #expect(response.json["error"]?["message"]?.string?.isEmpty == false)
    }

    @Test func `Nominatim tells its status`() {
        #expect(nominatim.respond(to: .get("/status")).text == "OK")
        #expect(nominatim.respond(to: .get("/status?format=json")).json["status"] == 0)
    }

    @Test func `Photon completes words and puts the longitude first`() {
        let feature = photon.respond(to: .get("/api?q=brandenb&limit=1")).json["features"]?[0]
        #expect(feature?["properties"]?["name"] == "Brandenburg Gate")
        #expect(feature?["properties"]?["countrycode"] == "DE")
        #expect(feature?["geometry"]?["coordinates"] == [13.3777034, 52.5162699])
        let reverse = photon.respond(to: .get("/reverse?lat=40.7484&lon=-73.9857")).json["features"]?[0]
        #expect(reverse?["properties"]?["name"] == "Empire State Building")
        #expect(photon.respond(to: .get("/api?q=qqqq")).json["features"] == [])
    }

    @Test(arguments: [
        "/api", "/api?q=", "/api?q=a&lang=xx", "/api?q=a&limit=x", "/reverse?lat=1", "/reverse?lat=99&lon=1",
        "/reverse?lat=1&lon=1&radius=-1", "/api?q=a&osm_tag=", "/api?q=a&osm_tag=!", "/api?q=a&osm_tag=a:",
        "/api?q=a&osm_tag=a:b:c", "/reverse?lat=1&lon=1&osm_tag=:", "/api?q=a&layer=town",
    ])
    func `Photon refuses wrong parameters`(target: String) {
        let response = photon.respond(to: .get(target))
        #expect(response.status == 400)
        #expect(response.json["message"]?.string != nil)
    }

    @Test(arguments: [
        ("osm_tag=place", true), ("osm_tag=place:city", true), ("osm_tag=:city", true), ("osm_tag=boundary", false),
        ("osm_tag=!place", false), ("osm_tag=!place:city", false), ("osm_tag=:!city", false),
        ("osm_tag=!boundary", true), ("osm_tag=place:!city", false), ("osm_tag=place:!town", true),
        ("osm_tag=tourism&osm_tag=place", true), ("osm_tag=place&osm_tag=!:city", false), ("layer=city", true),
        ("layer=house", false), ("layer=house&layer=city", true),
    ])
    func `Photon filters by what it answers`(_ filter: String, _ isFound: Bool) {
        let place = photon.respond(to: .get("/api?q=berlin&limit=1")).json["features"]?[0]?["properties"]
        #expect(place?["osm_key"] == "place" && place?["osm_value"] == "city" && place?["type"] == "city")
        for target in ["/api?q=berlin&limit=50", "/reverse?lat=52.5&lon=13.4&limit=50"] {
            let found = photon.respond(to: .get("\(target)&\(filter)")).json["features"]?.array ?? []
            #expect(found.contains { $0["properties"]?["name"] == "Berlin" } == isFound, "\(target)")
        }
    }

    /// Asks Google with the demonstration key.
    private func google(_ query: String, key: String? = "AIza-demo-key") -> HTTPResponse {
        google.respond(to: .get("/maps/api/geocode/json?\(query)\(key.map { "&key=\($0)" } ?? "")"))
    }

    @Test func `Google finds a place and formats its address as its country does`() {
        let found = google("address=1600+amphitheatre+parkway").json
        #expect(found["status"] == "OK")
        let result = found["results"]?[0]
        #expect(result?["formatted_address"] == "1600 Amphitheatre Parkway, Mountain View, CA 94043, USA")
        #expect(result?["geometry"]?["location"]?["lat"] == 37.4220578)
        let id = result?["place_id"]?.string ?? ""
        #expect(google("place_id=\(id)").json["results"]?[0]?["place_id"]?.string == id)
        let gate = google("latlng=52.5163,13.3777").json["results"]?[0]?["formatted_address"]
        #expect(gate == "Pariser Platz 1, 10117 Berlin, Germany")
        #expect(google("address=paris&components=country:DE").json["status"] == "ZERO_RESULTS")
        for state in ["CA", "ca", "California"] {
            let parkway = google("address=1600+amphitheatre+parkway&components=administrative_area:\(state)").json
            #expect(parkway["status"] == "OK", "\(state)")
        }
        for (filter, types) in [("locality", "locality"), ("point_of_interest|route", "establishment")] {
            let found = google("latlng=52.5163,13.3777&result_type=\(filter)").json["results"]?.array ?? []
            #expect(!found.isEmpty && found.allSatisfy { $0["types"]?[0] == .string(types) })
        }
        #expect(google("latlng=52.5163,13.3777&result_type=route").json["status"] == "ZERO_RESULTS")
        let exact = google("latlng=52.5163,13.3777&location_type=ROOFTOP").json["results"]?.array ?? []
        #expect(!exact.isEmpty && exact.allSatisfy { $0["geometry"]?["location_type"] == "ROOFTOP" })
    }

    @Test(arguments: ["52.5163e0,13.3777", "52.5163,1.33777E1", "5e-05,-5e-05"])
    func `coordinates with exponents are refused by Google, and are text to OpenCage`(_ point: String) {
        #expect(google("latlng=\(point)").json["status"] == "INVALID_REQUEST")
        let opencage = OpenCageVendor.demo()
        func found(_ query: String) -> Int? {
            let target = "/geocode/v1/json?q=\(query)&key=0cdemokey0cdemokey0cdemokey0cdem"
            return opencage.respond(to: .get(target)).json["results"]?.array?.count
        }
        #expect(found(point) == 0 && found("52.5163,13.3777") == 1)
    }

    @Test(arguments: [(4, true), (5, false)]) func `OpenCage leaves out what it is less confident of`(
        _ confidence: Int,
        _ isFound: Bool
    ) {
        let target = "/geocode/v1/json?q=berlin&min_confidence=\(confidence)&key=0cdemokey0cdemokey0cdemokey0cdem"
        let results = OpenCageVendor.demo().respond(to: .get(target)).json["results"]?.array ?? []
        #expect(results.contains { $0["confidence"] == 4 } == isFound)
    }

    @Test func `Google refuses in the body`() {
        #expect(google("address=qqqq").json == ["results": [], "status": "ZERO_RESULTS"])
        let denied = google("address=paris", key: "other")
        #expect(denied.status == 200)
        #expect(denied.json["status"] == "REQUEST_DENIED")
        #expect(denied.json["error_message"] == "The provided API key is invalid. ")
        #expect(google("address=paris", key: nil).json["status"] == "REQUEST_DENIED")
        let invalid = google("language=de")
        #expect(invalid.status == 400)
        #expect(invalid.json["status"] == "INVALID_REQUEST")
        #expect(google("latlng=x,y").json["status"] == "INVALID_REQUEST")
    }
}
