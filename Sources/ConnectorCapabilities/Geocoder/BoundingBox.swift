// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// An area between two parallels and two meridians, in degrees of WGS 84.
public struct BoundingBox: Sendable, Hashable {
    /// The lowest latitude.
    public var south: Double
    /// The longitude of the western edge; greater than ``east`` if the area crosses the 180th meridian.
    public var west: Double
    /// The highest latitude.
    public var north: Double
    /// The longitude of the eastern edge.
    public var east: Double

    /// Creates an area; nil if a latitude or longitude is out of range, or if `south` exceeds `north`.
    public init?(south: Double, west: Double, north: Double, east: Double) {
        guard (-90...90).contains(south), (-90...90).contains(north), south <= north,
            (-180...180).contains(west), (-180...180).contains(east)
        else { return nil }
        self.south = south
        self.west = west
        self.north = north
        self.east = east
    }

    /// Reads an area.
    public init(json: JSONValue, path: String = "boundingBox") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        let box = BoundingBox(
            south: try reader.requiredNumber("south", within: -90...90),
            west: try reader.requiredNumber("west", within: -180...180),
            north: try reader.requiredNumber("north", within: -90...90),
            east: try reader.requiredNumber("east", within: -180...180)
        )
        guard let box else { throw ConnectorError(.invalid, "\(path).south lies north of \(path).north") }
        self = box
    }

    /// The JSON form that operations return.
    public var json: JSONValue {
        ["south": .number(south), "west": .number(west), "north": .number(north), "east": .number(east)]
    }
}
