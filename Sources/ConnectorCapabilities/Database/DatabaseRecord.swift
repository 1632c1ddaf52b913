// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A record of a database.
public struct DatabaseRecord: Sendable, Hashable {
    /// The record's permanent id within its collection.
    public var id: String
    /// The version, which changes with every change of the record; nil if the vendor has no versions. Pass it to
    /// `replace`, `update` or `delete` to act only on the version that was read.
    public var version: String?
    /// The application's members, without the vendor's.
    public var data: JSONObject

    /// Creates a record.
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
    /// - Throws: A ``ConnectorError`` of code `invalid` with the path to the value that does not fit the type.
    public func decode<Value: Decodable>(as type: Value.Type = Value.self) throws(ConnectorError) -> Value {
        try data.decode(as: type)
    }

    /// Whether a text may be an id, or the name of a collection: a segment of a URL of 1 to 1024 bytes, and neither `.` nor `..`, which
    /// servers resolve as relative paths.
    package static func isName(_ text: String) -> Bool {
        (1...1024).contains(text.utf8.count) && text != "." && text != ".."
    }

    /// The JSON form that operations return.
    public var json: JSONValue {
        var object: JSONObject = ["id": .string(id)]
        object.set("version", version)
        object["data"] = .object(data)
        return .object(object)
    }
}
