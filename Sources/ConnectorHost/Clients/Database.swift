// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// The `database/1` interface an application depends on: a ``DatabaseClient`` in production, `InMemoryDatabase` in
/// tests.
///
/// ``DatabaseClient`` documents what the functions do and throw.
public protocol Database: Sendable {
    /// Stores a new record.
    func create(
        _ data: JSONObject,
        in collection: String,
        id: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord

    /// Reads a record.
    func get(
        _ id: String,
        in collection: String,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord

    /// Replaces a record.
    func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord

    /// Merges members into a record; other members stay unchanged.
    func update(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord

    /// Deletes a record.
    func delete(
        _ id: String,
        in collection: String,
        version: String?,
        options: CallOptions
    ) async throws(ConnectorError)

    /// Finds records, one page at a time.
    func query(
        _ query: DatabaseQuery,
        in collection: String,
        options: CallOptions
    ) async throws(ConnectorError) -> DatabasePage
}

/// The same calls with the default timeout.
extension Database {
    /// Stores a new record.
    ///
    /// - Parameters:
    ///   - data: The members of the record.
    ///   - collection: The collection to store it in.
    ///   - id: The record's id, for vendors that let the caller choose it; nil lets the vendor choose.
    public func create(
        _ data: JSONObject,
        in collection: String,
        id: String? = nil
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await create(data, in: collection, id: id, options: CallOptions())
    }

    /// Reads a record.
    public func get(_ id: String, in collection: String) async throws(ConnectorError) -> DatabaseRecord {
        try await get(id, in: collection, options: CallOptions())
    }

    /// Reads a record as a value.
    ///
    /// - Throws: `missing` if the record does not exist; `invalid`, with the path to the member that does not fit the type.
    public func get<Value: Decodable>(
        _ id: String,
        in collection: String,
        as type: Value.Type
    ) async throws(ConnectorError) -> Value {
        try await get(id, in: collection, options: CallOptions()).decode(as: type)
    }

    /// Replaces a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - data: The record's new members.
    ///   - collection: The record's collection.
    ///   - version: The version the record must still have; nil accepts any.
    public func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await replace(id, with: data, in: collection, version: version, options: CallOptions())
    }

    /// Merges members into a record; other members stay unchanged.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - data: The members to change.
    ///   - collection: The record's collection.
    ///   - version: The version the record must still have; nil accepts any.
    public func update(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await update(id, with: data, in: collection, version: version, options: CallOptions())
    }

    /// Deletes a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - collection: The record's collection.
    ///   - version: The version the record must still have; nil accepts any.
    public func delete(
        _ id: String,
        in collection: String,
        version: String? = nil
    ) async throws(ConnectorError) {
        try await delete(id, in: collection, version: version, options: CallOptions())
    }

    /// Finds records, one page at a time.
    public func query(
        _ query: DatabaseQuery = DatabaseQuery(),
        in collection: String
    ) async throws(ConnectorError) -> DatabasePage {
        try await self.query(query, in: collection, options: CallOptions())
    }
}
