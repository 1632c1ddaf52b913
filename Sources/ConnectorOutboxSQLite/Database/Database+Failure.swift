// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

extension Database {
    /// An error of the outbox's file.
    struct Failure: Error, CustomStringConvertible {
        /// The primary result code (sqlite.org/rescode.html); 0 if SQLite reported no error.
        let code: Int32
        /// The message.
        let description: String
        /// SQLite's message; nil if SQLite reported no error.
        var cause: String?
        /// The fix; nil for the usual one of the code.
        var advice: String?
        /// The file that was open; nil for none.
        var file: FileID?
        /// Whether the event was refused, and the file can be used.
        private(set) var isConflict = false

        /// Creates a failure that SQLite did not report.
        init(code: Int32 = 0, description: String, advice: String? = nil) {
            (self.code, self.description, self.advice) = (code, description, advice)
        }

        /// Creates a failure that SQLite reported.
        ///
        /// - Parameters:
        ///   - code: The extended result code. Some that SQLite counts as errors of the disk are damage or a full disk.
        ///   - number: The system's error number; 0 if it is not known.
        init(code: Int32, cause: String, number: Int32 = 0) {
            self.code = connector_sqlite_primary(code, number)
            self.cause = cause
            if [SQLITE_CANTOPEN, SQLITE_IOERR, SQLITE_READONLY].contains(self.code), let limit = Self.limit(number) {
                (description, advice) = limit
                return
            }
            description =
                switch self.code {
                case SQLITE_CORRUPT: "the file is damaged"
                case SQLITE_NOTADB: "the file is damaged, or not an outbox"
                case SQLITE_FULL: "the disk is full"
                case SQLITE_READONLY: "the file cannot be written"
                case SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: "the file cannot be opened"
                case SQLITE_BUSY, SQLITE_LOCKED: "another process has locked the file"
                case SQLITE_IOERR: "the disk reported an error"
                case SQLITE_NOMEM: "out of memory"
                case SQLITE_INTERRUPT: "a transaction took too long, and was interrupted"
                case SQLITE_TOOBIG: "an event is larger than SQLite supports"
                default: "the file cannot be used"
                }
        }

        /// The message and the fix for a limit of the process or of the file system; nil if the number is not of one.
        private static func limit(_ number: Int32) -> (description: String, advice: String?)? {
            switch number {
            case EMFILE:
                (
                    "this process has too many files open",
                    "raise the limit of open files: ulimit -n, or LimitNOFILE= of systemd"
                )
            case ENFILE: ("too many files are open on this machine", "raise fs.file-max, or close files")
            case EFBIG:
                (
                    "the file is as large as this process may write",
                    "raise the limit of the size of files: ulimit -f, or LimitFSIZE= of systemd"
                )
            case EROFS:
                ("the file system is read-only", "make it writable, or set another directory as \"state\"")
            default: nil
            }
        }

        /// The failure for a value in the file that this code never writes.
        static func damaged(_ what: String) -> Failure {
            Failure(code: SQLITE_CORRUPT, description: "the file is damaged: \(what)")
        }

        /// The failure for an event whose id another event has, which was sent to other connectors.
        static func conflict(_ id: String) -> Failure {
            var failure = Failure(
                description: "other connectors have another event with the id \"\(id)\"",
                advice: "give every event an id of its own"
            )
            failure.isConflict = true
            return failure
        }

        /// The message, with SQLite's.
        var reason: String { cause.map { "\(description): \($0)" } ?? description }

        /// The failure for a file that was removed or replaced while it was open.
        static let moved = Failure(code: movedCode, description: "the file was removed or replaced while it was open")

        /// Not a code of SQLite, whose codes are positive.
        private static let movedCode: Int32 = -1

        /// Whether the file is damaged or not a database.
        var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

        /// Whether the file was removed or replaced while it was open.
        var isMoved: Bool { code == Self.movedCode }

        /// Whether another process has locked the file.
        var isBusy: Bool { code == SQLITE_BUSY }

        /// Whether the file could not be read or written.
        var isUnreadable: Bool { code == SQLITE_IOERR }

        /// The fix, for an operator; nil if there is none.
        ///
        /// - Parameter isOpening: Whether the file was being opened.
        func fix(_ path: String, isOpening: Bool) -> String? {
            if let advice { return advice }
            return switch code {
            case SQLITE_FULL where isOpening:
                """
                free space on the disk of \(path), or inodes (df -i): the outbox needs a few megabytes to be opened, even if it only \
                delivers what it has
                """
            case SQLITE_FULL: "free space on the disk of \(path), or inodes (df -i)"
            case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM:
                "give this user write access to \(path) and its directory"
            case SQLITE_BUSY: "find the process that keeps the file locked: fuser \(path)"
            case SQLITE_IOERR: "check the system's log for disk errors"
            case SQLITE_INTERRUPT:
                "try again when the machine is less busy; if it persists, move \(path) away to start with a new file"
            default: nil
            }
        }
    }
}

extension Database {
    /// The number of the system's error behind a result code.
    ///
    /// If a file cannot be opened for writing, SQLite tries to open it for reading, and reports the number of that attempt. It reports none
    /// for a commit, which has just set the thread's.
    ///
    /// - Parameter number: The number that SQLite reports; 0 for none.
    static func number(of code: Int32, _ number: Int32, _ path: String, _ access: Access) -> Int32 {
        switch code & 0xFF {
        case SQLITE_CANTOPEN, SQLITE_READONLY: refusal(of: access, beside: path) ?? number
        case SQLITE_IOERR where number == 0: errno
        default: number
        }
    }

    /// Why the system refuses to create a file beside another one; nil if it does not refuse.
    ///
    /// Only creating one tells: a file system that has seen errors may refuse every change and not be mounted read-only, and one without
    /// inodes has free space. For a connection that reads, the directory stays as it is, and only its permissions are looked at.
    static func refusal(of mode: Access, beside path: String) -> Int32? {
        guard mode == .writing else { return unsafe access(path.parentPath, W_OK) == 0 ? nil : errno }
        let probe = path + ".probe"
        let descriptor = unsafe open(probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        let number = errno
        // A process that was killed may have left one.
        if descriptor >= 0 || number == EEXIST { unsafe unlink(probe) }
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        return number == EEXIST ? nil : number
    }
}
