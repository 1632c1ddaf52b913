// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// Reads points in the form that several vendors write.
extension Coordinate {
    /// Reads `{"lat": 52.5, "lng": 13.4}`; nil for anything else.
    public init?(latLng value: JSONValue?) {
        guard let latitude = value?["lat"]?.number, let longitude = value?["lng"]?.number else { return nil }
        self.init(latitude: latitude, longitude: longitude)
    }
}

extension BoundingBox {
    /// Reads `{"southwest": …, "northeast": …}` with two points of that form; nil for anything else.
    public init?(latLng value: JSONValue?) {
        guard let southWest = Coordinate(latLng: value?["southwest"]),
            let northEast = Coordinate(latLng: value?["northeast"])
        else { return nil }
        self.init(
            south: southWest.latitude,
            west: southWest.longitude,
            north: northEast.latitude,
            east: northEast.longitude
        )
    }
}
