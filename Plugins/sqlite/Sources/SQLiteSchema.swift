// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit

/// The table of records, and the marks of a file that contains it.
enum SQLiteSchema {
    /// "CNDB", which `PRAGMA application_id` reports for our files.
    private static let application: Int64 = 0x434E_4442
    /// The version of the table.
    private static let version: Int64 = 1

    /// A record's version is its row number. Every change makes a new row, and a number is never used twice.
    private static let table = """
        CREATE TABLE records(version INTEGER PRIMARY KEY AUTOINCREMENT, collection TEXT NOT NULL, id TEXT NOT NULL, \
        data TEXT NOT NULL, UNIQUE(collection, id))
        """

    /// Creates the table in an empty file. Checks it in any other file, without changing the file.
    static func prepare(_ connection: SQLiteConnection) throws(PluginError) {
        if try isEmpty(connection) {
            try connection.transaction { () throws(PluginError) in
                // Another process may have created the table meanwhile.
                guard try isEmpty(connection) else { return }
                try connection.run("\(table); PRAGMA application_id = \(application); PRAGMA user_version = \(version)")
            }
        }
        guard try number("PRAGMA application_id", connection) == application else {
            throw PluginError(.failed, "the file is another application's, and was not changed", domain: "sqlite")
        }
        let found = try number("PRAGMA user_version", connection)
        guard found == version else {
            throw PluginError(
                .unsupported,
                "the file has the version \(found), and this adapter knows \(version); it was not changed",
                domain: "sqlite"
            )
        }
        var definition = ""
        try connection.run("SELECT sql FROM sqlite_master WHERE name = 'records'") { row throws(PluginError) in
            definition = row.text(0)
            return true
        }
        guard definition == table else {
            throw SQLiteFailure.damaged(definition.isEmpty ? "the table is missing" : "the table is another")
        }
    }

    private static func isEmpty(_ connection: SQLiteConnection) throws(PluginError) -> Bool {
        let objects = try number("SELECT count(*) FROM sqlite_master", connection)
        let owner = try number("PRAGMA application_id", connection)
        return objects == 0 && owner == 0
    }

    private static func number(_ text: String, _ connection: SQLiteConnection) throws(PluginError) -> Int64 {
        var number: Int64 = 0
        try connection.run(text) { row throws(PluginError) in
            number = row.integer(0) ?? 0
            return true
        }
        return number
    }
}
