// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension Gazetteer {
    /// Well-known landmarks and cities on several continents.
    static let places: [GazetteerPlace] = landmarks + cities

    /// Creates a place from one row of the lists.
    static func place(
        _ osmType: String,
        _ osmID: Int64,
        _ latitude: Double,
        _ longitude: Double,
        _ name: String,
        aliases: [String],
        tag: (String, String),
        _ importance: Double,
        extent: GazetteerPlace.Extent = .point,
        _ address: [(String, String)]
    ) -> GazetteerPlace {
        GazetteerPlace(
            osm: (osmType, osmID),
            latitude: latitude,
            longitude: longitude,
            name: name,
            aliases: aliases,
            tag: tag,
            importance: importance,
            extent: extent,
            address: address.map { GazetteerPlace.Part(key: $0.0, value: $0.1) }
        )
    }
}
