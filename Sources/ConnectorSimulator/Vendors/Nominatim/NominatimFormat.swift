// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The formats of Nominatim's answers.
enum NominatimFormat: String {
    case json
    case jsonv2
    case geojson
    case geocodejson
    case xml

    /// The `licence` of every answer.
    static let licence = "Data © OpenStreetMap contributors, ODbL 1.0. http://osm.org/copyright"

    /// The document for several places.
    func document(_ places: [GazetteerPlace], details: Bool) -> JSONValue {
        switch self {
        case .json, .jsonv2, .xml: return .array(places.map { .object(object($0, details: details)) })
        case .geojson:
            return [
                "type": "FeatureCollection", "licence": .string(Self.licence),
                "features": .array(places.map { feature($0, details: details) }),
            ]
        case .geocodejson:
            return [
                "type": "FeatureCollection",
                "geocoding": ["version": "0.1.0", "attribution": .string(Self.licence), "licence": "ODbL"],
                "features": .array(places.map { geocodeFeature($0) }),
            ]
        }
    }

    /// The document for one place, as `reverse` returns it.
    func single(_ place: GazetteerPlace, details: Bool) -> JSONValue {
        switch self {
        case .json, .jsonv2, .xml: .object(object(place, details: details))
        case .geojson, .geocodejson: document([place], details: details)
        }
    }

    /// The members of a place in `json` and `jsonv2`, which differ in the name of one member and in three further members.
    private func object(_ place: GazetteerPlace, details: Bool) -> JSONObject {
        var object: JSONObject = [
            "place_id": .integer(place.placeID),
            "licence": .string(Self.licence),
            "osm_type": .string(place.osm.type),
            "osm_id": .integer(place.osm.id),
            "lat": .string(Degrees.text(place.latitude)),
            "lon": .string(Degrees.text(place.longitude)),
        ]
        for member in kind(of: place, category: self == .jsonv2 ? "category" : "class").members {
            object[member.name] = member.value
        }
        object["display_name"] = .string(place.displayName)
        if details { object["address"] = Self.address(place) }
        let box = place.box
        object["boundingbox"] = .array(
            [box.south, box.north, box.west, box.east].map { .string(Degrees.text($0)) }
        )
        return object
    }

    /// The members that describe the type of a place, with this format's name for the category.
    private func kind(of place: GazetteerPlace, category: String) -> JSONObject {
        [
            category: .string(place.tag.key),
            "type": .string(place.tag.value),
            "place_rank": .integer(place.isArea ? 16 : 30),
            "importance": .number(place.importance),
            "addresstype": .string(place.isArea ? "city" : place.tag.key),
            "name": .string(place.name),
        ]
    }

    /// The address with Nominatim's keys.
    static func address(_ place: GazetteerPlace) -> JSONValue {
        .object(JSONObject(place.details.map { ($0.key, .string($0.value)) }))
    }

    /// A place in `geojson`.
    private func feature(_ place: GazetteerPlace, details: Bool) -> JSONValue {
        var properties: JSONObject = [
            "place_id": .integer(place.placeID),
            "osm_type": .string(place.osm.type),
            "osm_id": .integer(place.osm.id),
        ]
        for member in kind(of: place, category: "category").members { properties[member.name] = member.value }
        properties["display_name"] = .string(place.displayName)
        if details { properties["address"] = Self.address(place) }
        let box = place.box
        return [
            "type": "Feature",
            "properties": .object(properties),
            "bbox": .array([box.west, box.south, box.east, box.north].map { .number($0) }),
            "geometry": Self.point(place),
        ]
    }

    /// A place in `geocodejson`.
    private func geocodeFeature(_ place: GazetteerPlace) -> JSONValue {
        var geocoding: JSONObject = [
            "place_id": .integer(place.placeID), "osm_type": .string(place.osm.type), "osm_id": .integer(place.osm.id),
            "osm_key": .string(place.tag.key), "osm_value": .string(place.tag.value),
            "type": .string(place.isArea ? "city" : "house"), "label": .string(place.displayName),
            "name": .string(place.name),
        ]
        let keys = [
            ("housenumber", "house_number"), ("street", "road"), ("district", "suburb"), ("city", "city"),
            ("county", "county"), ("state", "state"), ("postcode", "postcode"), ("country", "country"),
            ("country_code", "country_code"),
        ]
        for (name, key) in keys { geocoding[name] = place[key].map { .string($0) } }
        return ["type": "Feature", "properties": ["geocoding": .object(geocoding)], "geometry": Self.point(place)]
    }

    /// A GeoJSON point: longitude first.
    static func point(_ place: GazetteerPlace) -> JSONValue {
        ["type": "Point", "coordinates": [.number(place.longitude), .number(place.latitude)]]
    }
}
