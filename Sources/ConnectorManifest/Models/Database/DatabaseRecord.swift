// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A record as a database keeps it.
public struct DatabaseRecord: Sendable, Hashable {
    /// Names the record within its collection, for good.
    public var id: String
    /// Changes whenever the record does; nil if the vendor does not say. Give it back in `replace`, `update` or `delete` to
    /// act only on what was read.
    public var version: String?
    /// The application's own members, without the vendor's.
    public var data: JSONObject

    /// Makes a record.
    public init(id: String, version: String? = nil, data: JSONObject) {
        self.id = id
        self.version = version
        self.data = data
    }

    /// Reads a record.
    public init(json: JSONValue, path: String = "record") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        self.init(
            id: try reader.requiredString("id"),
            version: try reader.string("version"),
            data: try reader.object("data")
        )
    }

    /// The members as a value of the application's own type: see ``JSONValue/decode(as:)``.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` with the path to what does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> Value {
        try data.decode(as: type)
    }

    /// As operations answer it.
    public var json: JSONValue {
        var object: JSONObject = ["id": .string(id)]
        object.set("version", version)
        object["data"] = .object(data)
        return .object(object)
    }
}
