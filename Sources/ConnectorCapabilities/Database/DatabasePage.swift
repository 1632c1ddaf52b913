// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// One page of a query's records.
public struct DatabasePage: Sendable, Hashable {
    /// The records in the order of the query.
    public var records: [DatabaseRecord]
    /// An opaque reference to the next page; nil on the last page.
    public var cursor: String?

    /// Creates a page.
    public init(records: [DatabaseRecord], cursor: String? = nil) {
        self.records = records
        self.cursor = cursor
    }

    /// Reads a page.
    public init(json: JSONValue, path: String = "page") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        records = try reader.models("records") { json, path throws(ConnectorError) in
            try DatabaseRecord(json: json, path: path)
        }
        cursor = try reader.string("cursor")
    }

    /// The records as values of the application's own type, in order: see ``JSONValue/decode(as:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for the first record that does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> [Value] {
        var values: [Value] = []
        for record in records { values.append(try record.decode(as: type)) }
        return values
    }

    /// The JSON form that `query` returns.
    public var json: JSONValue {
        var object: JSONObject = ["records": .array(records.map(\.json))]
        object.set("cursor", cursor)
        return .object(object)
    }
}
