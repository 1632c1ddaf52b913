// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// A plugin of `database/1`. Its manifest omits the operations that the vendor cannot do.
public protocol DatabasePlugin: Plugin {
    /// Stores a new record.
    ///
    /// - Parameters:
    ///   - record: The record's members.
    ///   - collection: The collection to store it in.
    ///   - id: The record's id; nil lets the vendor choose.
    /// - Throws: A ``PluginError`` of status `conflict` if the id is taken.
    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord

    /// Reads a record.
    ///
    /// - Throws: A ``PluginError`` of status `notFound` if there is none.
    func get(_ id: String, in collection: String) async throws -> DatabaseRecord

    /// Replaces a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - record: All members of the new record.
    ///   - collection: The collection that holds it.
    ///   - version: The version that the record must still have; nil replaces any version.
    /// - Throws: A ``PluginError`` of status `conflict` if the record has another version, `notFound` if it does not
    ///   exist, `unsupported` if a version is given but the vendor has no versions.
    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord

    /// Merges members into a record; keeps the other members.
    ///
    /// - Throws: As ``replace(_:with:in:version:)`` does.
    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord

    /// Removes a record.
    ///
    /// - Throws: As ``replace(_:with:in:version:)`` does.
    func delete(_ id: String, in collection: String, version: String?) async throws

    /// Finds records.
    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage
}

extension DatabasePlugin {
    /// The operation `create`.
    public func create(collection: String, record: JSONValue, id: String?) async throws -> JSONValue {
        try await create(members(record), in: name(collection, "collection"), id: id.map { try name($0, "id") }).json
    }

    /// The operation `get`.
    public func get(collection: String, id: String) async throws -> JSONValue {
        try await get(name(id, "id"), in: name(collection, "collection")).json
    }

    /// The operation `replace`.
    public func replace(collection: String, id: String, record: JSONValue, version: String?) async throws -> JSONValue {
        let (id, collection) = (try name(id, "id"), try name(collection, "collection"))
        return try await replace(id, with: members(record), in: collection, version: version).json
    }

    /// The operation `update`.
    public func update(collection: String, id: String, record: JSONValue, version: String?) async throws -> JSONValue {
        let (id, collection) = (try name(id, "id"), try name(collection, "collection"))
        return try await update(id, with: members(record), in: collection, version: version).json
    }

    /// The operation `delete`.
    public func delete(collection: String, id: String, version: String?) async throws {
        try await delete(name(id, "id"), in: name(collection, "collection"), version: version)
    }

    /// The operation `query`.
    public func query(collection: String, query: JSONValue) async throws -> JSONValue {
        try await self.query(DatabaseQuery(json: query), in: name(collection, "collection")).json
    }

    private func members(_ record: JSONValue) throws(PluginError) -> JSONObject {
        guard let object = record.object else {
            throw PluginError(.invalid, "record must be an object, not \(record.kind)")
        }
        return object
    }

    /// Checks the name of a collection, or an id.
    private func name(_ text: String, _ what: String) throws(PluginError) -> String {
        guard DatabaseRecord.isName(text) else {
            throw PluginError(.invalid, "\(what) is \"\(text.prefix(40))\"; it must be a name of 1 to 1024 bytes")
        }
        return text
    }
}
