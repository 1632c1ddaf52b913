// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A place in Google's format.
struct GooglePlace {
    /// The place of the gazetteer.
    let place: GazetteerPlace

    /// A place id with the length and alphabet of Google's.
    var placeID: String {
        let text = "ChIJ" + Base64.encode(Array("\(place.osm.type)/\(place.osm.id)/simulated".utf8))
        return String(text.replacing("+", with: "-").replacing("/", with: "_").prefix(27))
    }

    /// What the place is.
    var types: [String] { place.isArea ? ["locality", "political"] : ["establishment", "point_of_interest"] }

    /// How exact the location is.
    var locationType: String { place.isArea ? "APPROXIMATE" : "ROOFTOP" }

    /// Whether a part of the address has a value, in full or as a code.
    func has(_ value: String, as key: String) -> Bool {
        [place[key], shortName(of: key)].contains { $0?.lowercased() == value.lowercased() }
    }

    /// The JSON of one result.
    var json: JSONValue {
        let box = place.box
        let viewport: JSONValue = [
            "northeast": ["lat": .number(box.north), "lng": .number(box.east)],
            "southwest": ["lat": .number(box.south), "lng": .number(box.west)],
        ]
        var geometry: JSONObject = [
            "location": ["lat": .number(place.latitude), "lng": .number(place.longitude)],
            "location_type": .string(locationType),
            "viewport": viewport,
        ]
        if place.isArea { geometry["bounds"] = viewport }
        return [
            "address_components": .array(components),
            "formatted_address": .string(formattedAddress),
            "geometry": .object(geometry),
            "place_id": .string(placeID),
            "types": .array(types.map { .string($0) }),
        ]
    }

    /// The parts of the address with Google's types, most specific first.
    private var components: [JSONValue] {
        let types: [(key: String, types: [String])] = [
            ("house_number", ["street_number"]),
            ("road", ["route"]),
            ("suburb", ["sublocality_level_1", "sublocality", "political"]),
            ("city", ["locality", "political"]),
            ("county", ["administrative_area_level_2", "political"]),
            ("state", ["administrative_area_level_1", "political"]),
            ("country", ["country", "political"]),
            ("postcode", ["postal_code"]),
        ]
        return types.compactMap { entry in
            guard let value = place[entry.key] else { return nil }
            return [
                "long_name": .string(value),
                "short_name": .string(shortName(of: entry.key) ?? value),
                "types": .array(entry.types.map { .string($0) }),
            ]
        }
    }

    /// The code of a country or, where addresses use it, of a state.
    private func shortName(of key: String) -> String? {
        switch key {
        case "country": place["country_code"]?.uppercased()
        case "state": usesStateCodes ? place["ISO3166-2-lvl4"].map { String($0.dropFirst(3)) } : nil
        default: nil
        }
    }

    /// Whether addresses in the country use state codes.
    private var usesStateCodes: Bool {
        ["us", "au"].contains(place["country_code"] ?? "")
    }

    /// The address in the format of its country.
    private var formattedAddress: String {
        let country = ["United States": "USA", "United Kingdom": "UK"]
        let code = place["country_code"] ?? ""
        let numberFirst = ["us", "gb", "fr", "au"].contains(code)
        let number = place["house_number"]
        let road = place["road"]
        let street = (numberFirst ? [number, road] : [road, number]).compactMap { $0 }.joined(separator: " ")
        let state = shortName(of: "state")
        let city: String
        switch code {
        case "us":
            let tail = [state, place["postcode"]].compactMap { $0 }.joined(separator: " ")
            city = [place.city ?? "", tail].filter { !$0.isEmpty }.joined(separator: ", ")
        case "gb", "au": city = [place.city, state, place["postcode"]].compactMap { $0 }.joined(separator: " ")
        default: city = [place["postcode"], place.city].compactMap { $0 }.joined(separator: " ")
        }
        let land = place["country"].map { country[$0] ?? $0 }
        return [street, city, land ?? ""].filter { !$0.isEmpty }.joined(separator: ", ")
    }
}
