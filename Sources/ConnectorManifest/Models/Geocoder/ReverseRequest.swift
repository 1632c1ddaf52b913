// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A question for what is at a point.
///
/// ```json
/// {"latitude": 46.9466, "longitude": 7.4446, "language": "de"}
/// ```
public struct ReverseRequest: Sendable, Hashable {
    /// The point.
    public var coordinate: Coordinate
    /// How many places to answer at most, 1 to 50, nearest first.
    public var limit: Int
    /// In which language, as a tag of BCP 47; nil leaves it to the vendor.
    public var language: String?

    /// Makes a request.
    public init(_ coordinate: Coordinate, limit: Int = 1, language: String? = nil) {
        self.coordinate = coordinate
        self.limit = limit
        self.language = language
    }

    /// Reads a request.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for anything that is not part of a request.
    public init(json: JSONValue, path: String = "request") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        try reader.checkNames(["latitude", "longitude", "limit", "language"])
        coordinate = try Coordinate(reader)
        limit = try reader.integer("limit", within: 1...50) ?? 1
        language = try languageTag(reader)
    }

    /// As operations take it.
    public var json: JSONValue {
        var object = JSONObject()
        coordinate.write(to: &object)
        object.set("limit", limit)
        object.set("language", language)
        return .object(object)
    }
}
