// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// Stores and finds records through a connector of `connectors.json`.
///
/// ```swift
/// let database = try host.database("database")
/// let record = try await database.create(["name": "Ada"], in: "people")
/// ```
///
/// A call that fails throws a `ConnectorError`: the vendor's own error with a code from <doc:Errors>; `unsupported` for
/// a feature the vendor lacks; `not-open`; `timed-out`; `cancelled` if the caller's task was cancelled. A change that
/// timed out or was cancelled may have taken effect. The `timeout` of the options covers the whole call, including
/// queueing at the gate and the adapter's retries.
///
/// Records are JSON, or values of the application's own `Codable` types: see ``get(_:in:as:options:)``.
///
/// Code that takes an `any Database` can be tested without a host: see ``Database``.
///
/// A client gives access to its own connector only. Use it from any thread.
public struct DatabaseClient: Database {
    let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// Stores a new record.
    ///
    /// - Parameters:
    ///   - data: The members of the record.
    ///   - collection: The collection to store it in; vendors that do not create collections throw `missing`.
    ///   - id: The record's id, for vendors that let the caller choose it; nil lets the vendor choose.
    ///   - options: The timeout of the call.
    /// - Returns: The record as stored, with its id, and its version if the vendor has versions.
    /// - Throws: `conflict` if the id is taken.
    public func create(
        _ data: JSONObject,
        in collection: String,
        id: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record(
            "create",
            [("collection", utf8(collection)), ("record", try encoded(data)), ("id", id.map(utf8))],
            options
        )
    }

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - collection: The record's collection.
    ///   - options: The timeout of the call.
    /// - Throws: `missing` if the record does not exist.
    public func get(
        _ id: String,
        in collection: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record("get", [("collection", utf8(collection)), ("id", utf8(id))], options)
    }

    /// Replaces a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - data: The record's new members.
    ///   - collection: The record's collection.
    ///   - version: The version the record must still have, from `DatabaseRecord.version`; nil accepts any.
    ///   - options: The timeout of the call.
    /// - Throws: `conflict` if the record has another version, `unsupported` if the vendor has no versions.
    public func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record("replace", change(id, data, collection, version), options)
    }

    /// Merges members into a record; other members stay unchanged.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - data: The members to change.
    ///   - collection: The record's collection.
    ///   - version: As in ``replace(_:with:in:version:options:)``.
    ///   - options: The timeout of the call.
    /// - Throws: As ``replace(_:with:in:version:options:)`` does.
    public func update(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record("update", change(id, data, collection, version), options)
    }

    /// Deletes a record.
    ///
    /// - Parameters:
    ///   - id: The record's id.
    ///   - collection: The record's collection.
    ///   - version: As in ``replace(_:with:in:version:options:)``.
    ///   - options: The timeout of the call.
    /// - Throws: `missing` if the record does not exist; otherwise as ``replace(_:with:in:version:options:)`` does.
    public func delete(
        _ id: String,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) {
        _ = try await target.call(
            "delete",
            CallArguments(
                texts: [("collection", utf8(collection)), ("id", utf8(id)), ("version", version.map(utf8))]
            ),
            options
        )
    }

    /// Finds records, one page at a time.
    ///
    /// - Parameters:
    ///   - query: Filters, order, limit, and the cursor of the previous page; everything by default.
    ///   - collection: The collection to search.
    ///   - options: The timeout of the call.
    /// - Returns: A page, with the cursor of the next one if there is one.
    /// - Throws: `invalid`, for example for two filters with one field and one comparison.
    public func query(
        _ query: DatabaseQuery = DatabaseQuery(),
        in collection: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabasePage {
        try target.checked { () throws(ConnectorError) in try query.check() }
        let texts: [(name: String, text: [UInt8]?)] = [("collection", utf8(collection)), ("query", query.json.utf8())]
        return try await target.call("query", texts: texts, options) { json throws(ConnectorError) in
            try DatabasePage(json: json)
        }
    }

    private func change(
        _ id: String,
        _ data: JSONObject,
        _ collection: String,
        _ version: String?
    ) throws(ConnectorError) -> [(name: String, text: [UInt8]?)] {
        [
            ("collection", utf8(collection)), ("id", utf8(id)), ("record", try encoded(data)),
            ("version", version.map(utf8)),
        ]
    }

    private func record(
        _ operation: String,
        _ texts: [(name: String, text: [UInt8]?)],
        _ options: CallOptions
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await target.call(operation, texts: texts, options) { json throws(ConnectorError) in
            try DatabaseRecord(json: json)
        }
    }

    private func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// A record as JSON.
    ///
    /// - Throws: `invalid` if it could not be read again: it is nested too deeply, or has a number that is not finite.
    private func encoded(_ data: JSONObject) throws(ConnectorError) -> [UInt8] {
        let record = JSONValue.object(data)
        try target.checked { () throws(ConnectorError) in try record.checkReadable(named: "the record") }
        return record.utf8()
    }
}
