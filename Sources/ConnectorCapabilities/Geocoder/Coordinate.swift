// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase

/// A point on the earth, in degrees of WGS 84.
public struct Coordinate: Sendable, Hashable {
    /// Degrees north of the equator, -90 to 90.
    public var latitude: Double
    /// Degrees east of Greenwich, -180 to 180.
    public var longitude: Double

    /// Creates a point; nil if a number is out of range.
    public init?(latitude: Double, longitude: Double) {
        guard (-90...90).contains(latitude), (-180...180).contains(longitude) else { return nil }
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Reads the members `latitude` and `longitude`.
    package init(_ reader: ModelReader) throws(ConnectorError) {
        latitude = try reader.requiredNumber("latitude", within: -90...90)
        longitude = try reader.requiredNumber("longitude", within: -180...180)
    }

    /// Writes the members `latitude` and `longitude`.
    package func write(to object: inout JSONObject) {
        object["latitude"] = .number(latitude)
        object["longitude"] = .number(longitude)
    }
}
