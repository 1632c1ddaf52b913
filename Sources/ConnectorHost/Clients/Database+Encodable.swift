// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase
public import ConnectorCapabilities

/// The same calls, with `Encodable` values.
///
/// A literal that fits both forms is JSON and keeps its member order.
extension Database {
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
    ///   - value: A value that encodes as an object, as `JSONValue.init(encoding:)` describes.
    ///   - collection: The collection to store it in; vendors that do not create collections throw `missing`.
    ///   - id: The record's id, for vendors that let the caller choose it; nil lets the vendor choose.
    ///   - options: The timeout of the call.
    /// - Returns: The record as stored.
    /// - Throws: `invalid` for a value that does not encode as an object, before anything is sent; `conflict` if the id
    ///   is taken.
    @_disfavoredOverload
    public func create(
        _ value: some Encodable,
        in collection: String,
        id: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await create(encoded(value), in: collection, id: id, options: options)
    }

    /// Replaces a record with a value.
    ///
    /// - Throws: `invalid` for a value that does not encode as an object; `conflict` and `unsupported` as in the JSON
    ///   form.
    @_disfavoredOverload
    public func replace(
        _ id: String,
        with value: some Encodable,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await replace(id, with: encoded(value), in: collection, version: version, options: options)
    }

    /// Merges the members of a value into a record; a nil optional encodes no member and changes none.
    ///
    /// - Throws: `invalid` for a value that does not encode as an object; `conflict` and `unsupported` as in the JSON
    ///   form.
    @_disfavoredOverload
    public func update(
        _ id: String,
        with value: some Encodable,
        in collection: String,
        version: String? = nil,
        options: CallOptions = CallOptions()
    ) async throws(ConnectorError) -> DatabaseRecord {
        try await update(id, with: encoded(value), in: collection, version: version, options: options)
    }

    private func encoded(_ value: some Encodable) throws(ConnectorError) -> JSONObject {
        try ClientTarget.checked(for: self) { () throws(ConnectorError) in try JSONObject(encoding: value) }
    }
}
