// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A request for the places at a point.
///
/// ```json
/// {"latitude": 46.9466, "longitude": 7.4446, "language": "de"}
/// ```
public struct ReverseRequest: Sendable, Hashable {
    /// The point.
    public var coordinate: Coordinate
    /// The most places to return, 1 to 50, nearest first.
    public var limit: Int
    /// The language of the answer as a BCP 47 tag; nil lets the vendor choose.
    public var language: String?

    /// Creates a request.
    public init(_ coordinate: Coordinate, limit: Int = 1, language: String? = nil) {
        self.coordinate = coordinate
        self.limit = limit
        self.language = language
    }

    /// Reads a request.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for any unknown member.
    public init(json: JSONValue, path: String = "request") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(Self.members.map(\.name))
        coordinate = try Coordinate(reader)
        limit = try reader.integer("limit", within: 1...50) ?? 1
        language = try languageTag(reader)
    }

    /// The JSON form that operations take.
    public var json: JSONValue {
        var object = JSONObject()
        coordinate.write(to: &object)
        object.set("limit", limit)
        object.set("language", language)
        return .object(object)
    }
}
