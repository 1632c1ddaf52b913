// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorInvocation
public import ConnectorManifest

/// The same calls with values of the application's own types.
///
/// Where JSON and an `Encodable` value stand in one place, a literal is JSON, in the order in which it is written.
extension DatabaseClient {
    /// Stores a value as a new record.
    ///
    /// ```swift
    /// struct Note: Codable {
    ///     var title: String
    ///     var done = false
    /// }
    ///
    /// let record = try await database.create(Note(title: "Milk"), in: "notes")
    /// let note = try await database.get(record.id, in: "notes", as: Note.self)
    /// ```
    ///
    /// - Parameters:
    ///   - value: Becomes the members of the record: see `JSONValue.init(encoding:)` for how.
    ///   - collection: Where it goes; vendors that need collections to exist say `missing`.
    ///   - id: Its name, for vendors that let the caller choose it; nil lets the vendor choose.
    ///   - options: How long the call may take.
    /// - Returns: The record as it was stored.
    /// - Throws: `invalid` for a value that cannot be written as an object, before anything is sent; `conflict` if there is a
    ///   record of that name.
    @_disfavoredOverload
    public func create(
        _ value: some Encodable,
        in collection: String,
        id: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await create(JSONObject(encoding: value), in: collection, id: id, options: options)
    }

    /// Reads a record as a value.
    ///
    /// - Parameters:
    ///   - id: Its name.
    ///   - collection: Where it is.
    ///   - type: What the record's members make.
    ///   - options: How long the call may take.
    /// - Throws: `missing` if there is none; `invalid` with the path to the member that does not fit the type.
    public func get<Value: Decodable>(
        _ id: String,
        in collection: String,
        as type: Value.Type,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> Value {
        let record = try await get(id, in: collection, options: options)
        do throws(ConnectorError) {
            return try record.decode(as: type)
        } catch {
            throw target.described(error)
        }
    }

    /// Puts a value in the place of a record.
    ///
    /// - Throws: `invalid` for a value that cannot be written as an object; `conflict` and `unsupported` as with JSON.
    @_disfavoredOverload
    public func replace(
        _ id: String,
        with value: some Encodable,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await replace(id, with: JSONObject(encoding: value), in: collection, version: version, options: options)
    }

    /// Merges what a value writes into a record; an optional that is nil writes nothing.
    ///
    /// - Throws: `invalid` for a value that cannot be written as an object; `conflict` and `unsupported` as with JSON.
    @_disfavoredOverload
    public func update(
        _ id: String,
        with value: some Encodable,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await update(id, with: JSONObject(encoding: value), in: collection, version: version, options: options)
    }
}
