// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Keeps records in an SQLite file of this machine (sqlite.org).
///
/// Each change is one transaction, on the disk when the call returns. It is rolled back if the call has ended before the commit begins;
/// a call that ends later has taken effect.
final class SQLite: DatabasePlugin {
    private let file: SQLiteFile

    init(configuration: PluginConfiguration, host: Host) throws {
        file = SQLiteFile(
            path: try configuration.string("file"),
            maxBytes: try configuration.integer("maxBytes"),
            host: host
        )
    }

    /// Opens the file, or reads it again; creates it if it does not exist.
    func open() async throws -> [Evidence] {
        try await file.open()
        return [.reachable("the file can be read and written, SQLite \(SQLiteConnection.libraryVersion)")]
    }

    /// Finishes the work under way, and closes the file.
    func close() async {
        await file.close()
    }

    func create(_ record: JSONObject, in collection: String, id: String?) async throws -> DatabaseRecord {
        let id = try Self.name(id ?? RandomIdentifier.uuid(), "id")
        let collection = try Self.name(collection, "collection")
        return try await file.perform { records throws(PluginError) in
            try records.create(id, record, in: collection)
        }
    }

    func get(_ id: String, in collection: String) async throws -> DatabaseRecord {
        try await file.perform { records throws(PluginError) in
            try records.get(id, in: collection)
        }
    }

    func replace(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        let version = try version.map(Self.version)
        return try await file.perform { records throws(PluginError) in
            try records.change(id, in: collection, version: version) { _ in record }
        }
    }

    func update(_ id: String, with record: JSONObject, in collection: String, version: String?) async throws
        -> DatabaseRecord
    {
        let version = try version.map(Self.version)
        return try await file.perform { records throws(PluginError) in
            try records.change(id, in: collection, version: version) { stored in
                record.members.reduce(into: stored) { $0[$1.name] = .some($1.value) }
            }
        }
    }

    func delete(_ id: String, in collection: String, version: String?) async throws {
        let version = try version.map(Self.version)
        try await file.perform { records throws(PluginError) in
            try records.delete(id, in: collection, version: version)
        }
    }

    func query(_ query: DatabaseQuery, in collection: String) async throws -> DatabasePage {
        let selection = try SQLiteQuery(query, in: collection)
        return try await file.perform { records throws(PluginError) in
            try records.page(of: selection)
        }
    }

    /// Checks for NUL: in some places, SQLite compares text only up to the first one.
    private static func name(_ text: String, _ what: String) throws(PluginError) -> String {
        guard !text.utf8.contains(0) else { throw PluginError(.invalid, "the \(what) has a NUL character") }
        return text
    }

    private static func version(_ text: String) throws(PluginError) -> Int64 {
        guard let version = Int64(text), version > 0, "\(version)" == text else {
            throw PluginError(.invalid, "version must be one that this database gave: a whole number")
        }
        return version
    }
}
