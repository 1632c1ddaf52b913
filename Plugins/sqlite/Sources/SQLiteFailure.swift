// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorKit

/// Converts SQLite's result codes (sqlite.org/rescode.html) to the vocabulary that all vendors share.
enum SQLiteFailure {
    /// The file is no longer where it was opened; anything that SQLite wrote would be lost.
    static let moved = PluginError(
        .unavailable,
        "the file was removed or replaced while it was open",
        domain: "sqlite"
    )

    /// No more fits. What to do is in the message, because a plugin's error has no other place for it.
    private static let full =
        "nothing was changed: the disk is full, or the file has reached maxBytes; free space on its disk, or raise maxBytes"

    /// The file contains something that this adapter did not write.
    static func damaged(_ what: String) -> PluginError {
        PluginError(
            .failed,
            "the file is damaged, and was not changed: \(what); put a copy in its place",
            domain: "sqlite",
            detail: SQLITE_CORRUPT
        )
    }

    /// The error for a code.
    ///
    /// - Parameters:
    ///   - code: The extended code.
    ///   - words: SQLite's own message.
    static func error(_ code: Int32, _ words: String) -> PluginError {
        let primary = connector_sqlite_primary(code, 0)
        if primary == SQLITE_CORRUPT || words.hasPrefix("malformed JSON") {
            return damaged(words)
        }
        let (status, message): (PluginStatus, String) =
            switch primary {
            case SQLITE_NOTADB: (.failed, "the file is no database of SQLite, and was not changed")
            case SQLITE_FULL: (.unavailable, full)
            case SQLITE_READONLY, SQLITE_PERM, SQLITE_AUTH: (.denied, "the file cannot be written")
            case SQLITE_CANTOPEN: (.unavailable, "the file cannot be opened")
            case SQLITE_BUSY, SQLITE_LOCKED: (.unavailable, "another process holds the file")
            case SQLITE_IOERR: (.unavailable, "the disk reports an error")
            case SQLITE_NOMEM: (.unavailable, "the memory is used up")
            case SQLITE_TOOBIG: (.tooLarge, "the record is larger than a file can hold")
            default: (.failed, "the file cannot be used")
            }
        return PluginError(status, "\(message): \(words)", domain: "sqlite", detail: code)
    }
}
