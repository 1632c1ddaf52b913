// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorPlatform

extension Database {
    /// Why the file cannot be used.
    struct Failure: Error, CustomStringConvertible {
        /// The primary result code (sqlite.org/rescode.html), or 0 where SQLite found nothing wrong.
        let code: Int32
        /// What is wrong, in our words.
        let description: String
        /// SQLite's words.
        var cause: String?
        /// What an operator can do about it, where the code does not tell.
        var advice: String?
        /// The file that was open; nil if none was.
        var file: FileID?

        /// Describes a failure that SQLite did not find.
        init(code: Int32 = 0, description: String, advice: String? = nil) {
            (self.code, self.description, self.advice) = (code, description, advice)
        }

        /// Describes what SQLite found.
        ///
        /// - Parameter code: The extended result code. A file or a log that ends where more was written, or whose checksums in the file
        ///   system are wrong, is damaged; SQLite calls that an error of reading.
        init(code: Int32, cause: String) {
            self.code = connector_sqlite_is_damage(code) ? SQLITE_CORRUPT : code & 0xFF
            self.cause = cause
            description =
                switch self.code {
                case SQLITE_CORRUPT: "the file is damaged"
                case SQLITE_NOTADB: "the file is damaged, or no outbox at all"
                case SQLITE_FULL: "the disk is full"
                case SQLITE_READONLY: "the file cannot be written"
                case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: "the file cannot be opened"
                case SQLITE_BUSY, SQLITE_LOCKED: "another process holds the file"
                case SQLITE_IOERR: "the disk reports an error"
                case SQLITE_NOMEM: "the memory is used up"
                case SQLITE_INTERRUPT: "the work on the file took too long, and was stopped"
                case SQLITE_TOOBIG: "an event is larger than a file can hold"
                default: "the file cannot be used"
                }
        }

        /// A value in the file is none that this code has written.
        static func damaged(_ what: String) -> Failure {
            Failure(code: SQLITE_CORRUPT, description: "the file is damaged: \(what)")
        }

        /// What is wrong, with SQLite's words.
        var reason: String { cause.map { "\(description): \($0)" } ?? description }

        /// The file was removed or replaced while it was open.
        static let moved = Failure(code: movedCode, description: "the file was removed or replaced while it was open")

        /// Not a code of SQLite's, which are positive.
        private static let movedCode: Int32 = -1

        /// Whether the file is no database, or a damaged one.
        var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

        /// Whether the file no longer lies where it was opened.
        var isMoved: Bool { code == Self.movedCode }

        /// Whether another process holds the file.
        var isBusy: Bool { code == SQLITE_BUSY }

        /// Whether the file could not be read or written.
        var isUnreadable: Bool { code == SQLITE_IOERR }

        /// Whether a copy may succeed later: the disk is full, or the file is busy.
        var mayPass: Bool { [SQLITE_FULL, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN].contains(code) }

        /// What an operator can do about it.
        func fix(_ path: String) -> String? {
            if let advice { return advice }
            return switch code {
            case SQLITE_FULL: "make room on the disk of \(path)"
            case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: "let this user write \(path) and its directory"
            case SQLITE_BUSY: "another process holds the file for long: find it with fuser \(path)"
            case SQLITE_IOERR: "look at the system's log: the disk reports errors"
            case SQLITE_INTERRUPT:
                "try again on a quieter machine; if it lasts, move \(path) away and start with a new file"
            default: nil
            }
        }
    }
}
