// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A real place that the simulated geocoders know.
struct GazetteerPlace: Sendable {
    /// The extent of a place.
    enum Extent: Sendable {
        /// A building or landmark.
        case point
        /// A city with its bounding box, in degrees.
        case area(south: Double, north: Double, west: Double, east: Double)
    }

    /// A part of the address, from the most specific to the least.
    struct Part: Sendable {
        /// Nominatim's key, for example `house_number`.
        var key: String
        /// The part's text.
        var value: String
    }

    /// `way`, `relation` or `node`, and the number OpenStreetMap gave it.
    var osm: (type: String, id: Int64)
    /// Degrees in WGS 84.
    var latitude: Double
    /// Degrees in WGS 84.
    var longitude: Double
    /// The name in English or, if there is none, in the local language.
    var name: String
    /// Other names by which a search finds it.
    var aliases: [String]
    /// OpenStreetMap's key and value, for example `tourism` and `attraction`.
    var tag: (key: String, value: String)
    /// Nominatim's importance, from 0 to 1.
    var importance: Double
    /// The place's extent.
    var extent: Extent
    /// The address, without the name of the place.
    var address: [Part]

    /// One part of the address.
    subscript(key: String) -> String? {
        address.first { $0.key == key }?.value
    }

    /// Whether the place is a city, rather than a landmark.
    var isArea: Bool {
        if case .area = extent { true } else { false }
    }

    /// The bounding box in degrees; a landmark gets a small one.
    var box: (south: Double, north: Double, west: Double, east: Double) {
        switch extent {
        case .area(let south, let north, let west, let east): (south, north, west, east)
        case .point: (latitude - 0.0005, latitude + 0.0005, longitude - 0.0008, longitude + 0.0008)
        }
    }

    /// The parts of the address, preceded by the place's name, as Nominatim lists them.
    var details: [Part] {
        isArea ? address : [Part(key: tag.key, value: name)] + address
    }

    /// The full address in one line, as Nominatim formats it, without consecutive repetitions.
    var displayName: String {
        let values = details.filter { $0.key != "ISO3166-2-lvl4" && $0.key != "country_code" }.map(\.value)
        let distinct = values.enumerated().filter { $0.offset == 0 || values[$0.offset - 1] != $0.element }
        return distinct.map(\.element).joined(separator: ", ")
    }

    /// The place's id in this gazetteer's answers.
    var placeID: Int64 { 100_000_000 + osm.id % 97_000_000 }

    /// The name of the city that the place is or is in.
    var city: String? { self["city"] ?? self["town"] }
}
