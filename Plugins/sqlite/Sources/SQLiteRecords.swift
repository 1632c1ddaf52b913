// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The operations on the records of a file. Every value goes to SQLite as a parameter.
struct SQLiteRecords {
    /// The bytes of records after which a page ends, even if its limit allows more records.
    private static let pageBytes = 4 << 20

    let connection: SQLiteConnection

    init(_ connection: SQLiteConnection) {
        self.connection = connection
    }

    /// Proves that the file can be read.
    func check() throws(PluginError) {
        try connection.run("SELECT data FROM records LIMIT 1") { row throws(PluginError) in
            _ = try Self.members(row.bytes(0))
            return true
        }
    }

    func create(_ id: String, _ record: JSONObject, in collection: String) throws(PluginError) -> DatabaseRecord {
        try connection.transaction { () throws(PluginError) in
            try connection.run(
                "INSERT INTO records(collection, id, data) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
                .text(collection),
                .text(id),
                .text(JSONValue.object(record).serialized())
            )
            guard connection.changes == 1 else {
                throw PluginError(.conflict, "there is a record \"\(id.prefix(40))\" already", domain: "sqlite")
            }
            return DatabaseRecord(id: id, version: "\(connection.insertedRow)", data: record)
        }
    }

    func get(_ id: String, in collection: String) throws(PluginError) -> DatabaseRecord {
        var found: DatabaseRecord?
        try connection.run(
            "SELECT version, data FROM records WHERE collection = ? AND id = ?",
            .text(collection),
            .text(id)
        ) { row throws(PluginError) in
            found = DatabaseRecord(
                id: id,
                version: row.integer(0).map { "\($0)" },
                data: try Self.members(row.bytes(1))
            )
            return false
        }
        guard let found else {
            throw PluginError(.notFound, "there is no record \"\(id.prefix(40))\"", domain: "sqlite")
        }
        return found
    }

    /// Replaces a record with what a closure makes of it.
    ///
    /// - Parameter version: The version that the record must still have; nil for any.
    func change(
        _ id: String,
        in collection: String,
        version: Int64?,
        _ edit: (JSONObject) -> JSONObject
    ) throws(PluginError) -> DatabaseRecord {
        try connection.transaction { () throws(PluginError) in
            let new = edit(try expected(id, in: collection, version: version).data)
            try connection.run(
                "INSERT OR REPLACE INTO records(collection, id, data) VALUES(?, ?, ?)",
                .text(collection),
                .text(id),
                .text(JSONValue.object(new).serialized())
            )
            return DatabaseRecord(id: id, version: "\(connection.insertedRow)", data: new)
        }
    }

    /// Removes a record.
    ///
    /// - Parameter version: The version that the record must still have; nil for any.
    func delete(_ id: String, in collection: String, version: Int64?) throws(PluginError) {
        try connection.transaction { () throws(PluginError) in
            _ = try expected(id, in: collection, version: version)
            try connection.run(
                "DELETE FROM records WHERE collection = ? AND id = ?",
                .text(collection),
                .text(id)
            )
        }
    }

    /// One page of a query.
    func page(of query: SQLiteQuery) throws(PluginError) -> DatabasePage {
        var records: [DatabaseRecord] = []
        var bytes = 0
        var last: [SQLiteValue] = []
        var cursor: String?
        try connection.run(query.text, query.values) { row throws(PluginError) in
            guard records.count < query.limit, bytes < Self.pageBytes else {
                cursor = query.cursor(after: last)
                return false
            }
            let data = row.bytes(2)
            let id = row.text(1)
            records.append(
                DatabaseRecord(id: id, version: row.integer(0).map { "\($0)" }, data: try Self.members(data))
            )
            bytes += data.count
            last = (0..<query.sortCount).map { row.value(Int32(3 + $0)) } + [.text(id)]
            return true
        }
        return DatabasePage(records: records, cursor: cursor)
    }

    /// Reads a record that must exist and have the version.
    private func expected(_ id: String, in collection: String, version: Int64?) throws(PluginError) -> DatabaseRecord {
        let found = try get(id, in: collection)
        guard let version, found.version != "\(version)" else { return found }
        throw PluginError(
            .conflict,
            "the record \"\(id.prefix(40))\" has the version \(found.version ?? "none"), not \(version)",
            domain: "sqlite"
        )
    }

    private static func members(_ data: [UInt8]) throws(PluginError) -> JSONObject {
        guard case .object(let members)? = try? JSONValue(document: data) else {
            throw SQLiteFailure.damaged("a record is not a JSON object")
        }
        return members
    }
}
