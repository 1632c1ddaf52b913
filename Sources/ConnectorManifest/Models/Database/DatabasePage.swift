// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What a query found, as far as one page goes.
public struct DatabasePage: Sendable, Hashable {
    /// In the order that the query asked for.
    public var records: [DatabaseRecord]
    /// Where the next page begins; nil if this is the last one. Opaque.
    public var cursor: String?

    /// Makes a page.
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

    /// The records as values of the application's own type, in their order: see ``JSONValue/decode(as:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` for the first record that does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> [Value] {
        var values: [Value] = []
        for record in records { values.append(try record.decode(as: type)) }
        return values
    }

    /// As `query` answers it.
    public var json: JSONValue {
        var object: JSONObject = ["records": .array(records.map(\.json))]
        object.set("cursor", cursor)
        return .object(object)
    }
}
