// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A real place that the simulated geocoders know.
struct GazetteerPlace: Sendable {
    /// How large a place is.
    enum Extent: Sendable {
        /// A building or a spot.
        case point
        /// A city with its limits: south, north, west, east.
        case area(south: Double, north: Double, west: Double, east: Double)
    }

    /// A part of the address, from the most specific to the least.
    struct Part: Sendable {
        /// Nominatim's key, for instance `house_number`.
        var key: String
        /// Its value.
        var value: String
    }

    /// `way`, `relation` or `node`, and the number OpenStreetMap gave it.
    var osm: (type: String, id: Int64)
    /// Degrees in WGS 84.
    var latitude: Double
    /// Degrees in WGS 84.
    var longitude: Double
    /// In English or, where there is none, in the local language.
    var name: String
    /// Other names it is searched by.
    var aliases: [String]
    /// OpenStreetMap's key and value, for instance `tourism` and `attraction`.
    var tag: (key: String, value: String)
    /// How well known it is, from 0 to 1.
    var importance: Double
    /// Its limits.
    var extent: Extent
    /// Without the name of the place itself.
    var address: [Part]

    /// One part of the address.
    subscript(key: String) -> String? {
        address.first { $0.key == key }?.value
    }

    /// Whether it is a city, as opposed to something in one.
    var isArea: Bool {
        if case .area = extent { true } else { false }
    }

    /// South, north, west, east; a spot is given a small box.
    var box: (south: Double, north: Double, west: Double, east: Double) {
        switch extent {
        case .area(let south, let north, let west, let east): (south, north, west, east)
        case .point: (latitude - 0.0005, latitude + 0.0005, longitude - 0.0008, longitude + 0.0008)
        }
    }

    /// Every part of the address with the place's own name in front, as Nominatim lists them.
    var details: [Part] {
        isArea ? address : [Part(key: tag.key, value: name)] + address
    }

    /// One line with everything, as Nominatim writes it; what would stand there twice in a row is written once.
    var displayName: String {
        let values = details.filter { $0.key != "ISO3166-2-lvl4" && $0.key != "country_code" }.map(\.value)
        let distinct = values.enumerated().filter { $0.offset == 0 || values[$0.offset - 1] != $0.element }
        return distinct.map(\.element).joined(separator: ", ")
    }

    /// A number that stands for it in this gazetteer's answers.
    var placeID: Int64 { 100_000_000 + osm.id % 97_000_000 }

    /// The city it is, or lies in.
    var city: String? { self["city"] ?? self["town"] }
}
