// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// `database/1` at a used gate.
public struct UsedDatabase: UsedCapability {
    private let gate: UsedGate

    /// Wraps a used gate that offers `database/1`.
    public init(_ gate: UsedGate) {
        self.gate = gate
    }

    /// Stores a new record.
    ///
    /// - Parameter id: The record's id, for vendors that let the caller choose it; nil lets the vendor choose.
    public func create(
        _ data: JSONObject,
        in collection: String,
        id: String? = nil
    ) async throws(PluginError) -> DatabaseRecord {
        var arguments: JSONObject = ["collection": .string(collection), "record": .object(data)]
        arguments["id"] = id.map(JSONValue.string)
        return try await record("create", arguments)
    }

    /// Reads a record; throws `notFound` if it does not exist.
    public func get(_ id: String, in collection: String) async throws(PluginError) -> DatabaseRecord {
        try await record("get", ["collection": .string(collection), "id": .string(id)])
    }

    /// Replaces a record.
    ///
    /// - Parameter version: The version the record must still have; nil accepts any.
    public func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil
    ) async throws(PluginError) -> DatabaseRecord {
        try await record("replace", change(id, data, collection, version))
    }

    /// Merges members into a record; other members stay unchanged.
    ///
    /// - Parameter version: The version the record must still have; nil accepts any.
    public func update(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil
    ) async throws(PluginError) -> DatabaseRecord {
        try await record("update", change(id, data, collection, version))
    }

    /// Deletes a record; throws `notFound` if it does not exist.
    ///
    /// - Parameter version: The version the record must still have; nil accepts any.
    public func delete(_ id: String, in collection: String, version: String? = nil) async throws(PluginError) {
        var arguments: JSONObject = ["collection": .string(collection), "id": .string(id)]
        arguments["version"] = version.map(JSONValue.string)
        _ = try await gate.call("delete", arguments)
    }

    /// Finds records, one page at a time.
    ///
    /// - Throws: `invalid`, for example for two filters with one field and one comparison; otherwise the used gate's error.
    public func query(
        _ query: DatabaseQuery = DatabaseQuery(),
        in collection: String
    ) async throws(PluginError) -> DatabasePage {
        do throws(ConnectorError) {
            try query.check()
        } catch {
            throw PluginError(error)
        }
        return try await gate.call("query", ["collection": .string(collection), "query": query.json]) {
            json throws(ConnectorError) in
            try DatabasePage(json: json)
        }
    }

    private func change(_ id: String, _ data: JSONObject, _ collection: String, _ version: String?) -> JSONObject {
        var arguments: JSONObject = [
            "collection": .string(collection), "id": .string(id), "record": .object(data),
        ]
        arguments["version"] = version.map(JSONValue.string)
        return arguments
    }

    private func record(_ operation: String, _ arguments: JSONObject) async throws(PluginError) -> DatabaseRecord {
        try await gate.call(operation, arguments) { json throws(ConnectorError) in try DatabaseRecord(json: json) }
    }
}
