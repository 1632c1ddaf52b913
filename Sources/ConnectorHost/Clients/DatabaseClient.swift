// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// Stores and finds records, wherever `connectors.json` says.
///
/// ```swift
/// let database = try host.database("database")
/// let record = try await database.create(["name": "Ada"], in: "people")
/// ```
///
/// Every call throws a `ConnectorError`: what the vendor said, in the codes of <doc:Errors>; `unsupported` for what the vendor
/// cannot do; `not-open`, `timed-out`; `cancelled` if the caller's own task was. The `timeout` of the options covers all of that, a
/// wait for the gate's turn and the adapter's retries included.
///
/// Records are JSON, or values of the application's own `Codable` types: see ``get(_:in:as:options:)``.
///
/// A value that holds nothing else of the host. From any thread.
public struct DatabaseClient: Sendable {
    let target: ClientTarget

    init(_ target: ClientTarget) {
        self.target = target
    }

    /// Stores a new record.
    ///
    /// - Parameters:
    ///   - data: The members of the record.
    ///   - collection: Where it goes; vendors that need collections to exist say `missing`.
    ///   - id: Its name, for vendors that let the caller choose it; nil lets the vendor choose.
    ///   - options: How long the call may take.
    /// - Returns: The record as it was stored, with its id, and its version if the vendor knows any.
    /// - Throws: `conflict` if there is one of that name.
    public func create(
        _ data: JSONObject,
        in collection: String,
        id: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record(
            "create",
            [("collection", utf8(collection)), ("record", JSONValue.object(data).utf8()), ("id", id.map(utf8))],
            options
        )
    }

    /// Reads a record.
    ///
    /// - Parameters:
    ///   - id: Its name.
    ///   - collection: Where it is.
    ///   - options: How long the call may take.
    /// - Throws: `missing` if there is none.
    public func get(
        _ id: String,
        in collection: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record("get", [("collection", utf8(collection)), ("id", utf8(id))], options)
    }

    /// Puts a record in the place of another.
    ///
    /// - Parameters:
    ///   - id: The record's name.
    ///   - data: All of its members from now on.
    ///   - collection: Where it is.
    ///   - version: The version that it must still have, from `DatabaseRecord.version`; nil takes any.
    ///   - options: How long the call may take.
    /// - Throws: `conflict` if it has another, `unsupported` if the vendor knows no versions.
    public func replace(
        _ id: String,
        with data: JSONObject,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await record("replace", change(id, data, collection, version), options)
    }

    /// Merges members into a record; those that are not given stay.
    ///
    /// - Parameters:
    ///   - id: The record's name.
    ///   - data: The members that change.
    ///   - collection: Where it is.
    ///   - version: As in ``replace(_:with:in:version:options:)``.
    ///   - options: How long the call may take.
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

    /// Removes a record.
    ///
    /// - Parameters:
    ///   - id: The record's name.
    ///   - collection: Where it is.
    ///   - version: As in ``replace(_:with:in:version:options:)``.
    ///   - options: How long the call may take.
    /// - Throws: `missing` if there is none, and as ``replace(_:with:in:version:options:)`` does.
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
    ///   - query: Filters, order, limit, and the cursor of the page before; by default everything.
    ///   - collection: Where to look.
    ///   - options: How long the call may take.
    /// - Returns: A page, with the cursor of the next one if there is one.
    public func query(
        _ query: DatabaseQuery = DatabaseQuery(),
        in collection: String,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabasePage {
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
    ) -> [(name: String, text: [UInt8]?)] {
        [
            ("collection", utf8(collection)), ("id", utf8(id)), ("record", JSONValue.object(data).utf8()),
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
}
