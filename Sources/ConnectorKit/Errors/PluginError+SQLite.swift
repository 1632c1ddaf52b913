// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

extension PluginError {
    /// Corrects an error in which a server passes on SQLite's words ("Result and Error Codes"), but not SQLite's code, with a status that
    /// blames the request: another process holds the file, or its disk is full.
    package mutating func correct(bySQLiteWords words: String) {
        if words.hasPrefix("UNIQUE constraint failed") {
            (status, isRetryable) = (.conflict, false)
        } else if Self.wordsOfUnavailability.contains(where: { words.hasPrefix($0) }) {
            (status, isRetryable) = (.unavailable, true)
        }
    }

    /// How the messages begin that say nothing of the statement.
    private static let wordsOfUnavailability = [
        "database is locked", "database table is locked", "database schema is locked", "database or disk is full",
        "disk I/O error", "attempt to write a readonly database", "unable to open database file", "locking protocol",
        "out of memory",
    ]
}
