// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorPlatform

/// A connection to an SQLite file, for one thread at a time. Closed when deallocated.
///
/// The contents of the file are untrusted: no code in it (views, triggers) runs, and every statement has a time limit.
@safe final class Database {
    private let handle: OpaquePointer
    private let path: String
    /// How the file was opened.
    private let accessMode: Access
    /// The file that was opened; nil for none.
    let file: FileID?
    /// Its write-ahead log, and the log's index in shared memory, once ``noteLog()`` was called; nil for none.
    private var log: FileID?
    private var index: FileID?
    /// Limits the duration of every transaction.
    let watch: StatementWatch

    /// How to open a file.
    enum Access {
        /// For reading and writing; creates a missing file.
        case writing
        /// For reading; the file must exist.
        case reading
    }

    /// The files at a path; nil for what is not there.
    struct Place: Sendable, Hashable {
        var file: FileID?
        /// The write-ahead log.
        var log: FileID?
        /// The index of the log.
        var index: FileID?
    }

    /// The number of steps of SQLite's virtual machine between two checks of the watch: about 0.1 ms.
    private static let stepsBetweenChecks: Int32 = 10_000

    /// Opens a file.
    init(
        _ path: String,
        _ access: Access = .writing,
        watch: StatementWatch = StatementWatch()
    ) throws(Failure) {
        var opened: OpaquePointer?
        let isInMemory = path == ":memory:"
        // SQLite may refuse a link anywhere on a path (since 3.39), but only the file itself must not be a link.
        let place = isInMemory ? path : path.placePath ?? path
        let creates = access == .writing ? SQLITE_OPEN_CREATE : 0
        // Readers of a write-ahead log update its shared index, so they also need write access.
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | creates
        let code = unsafe sqlite3_open_v2(place, &opened, flags, nil)
        guard code == SQLITE_OK, let database = unsafe opened else {
            let failure = unsafe Failure(
                code: code,
                cause: String(cString: sqlite3_errstr(code)),
                number: Self.number(of: code, sqlite3_system_errno(opened), place, access)
            )
            unsafe sqlite3_close_v2(opened)
            throw failure
        }
        // SQLite silently opens a file read-only if it cannot open it for writing: every later write would fail.
        if access == .writing, unsafe sqlite3_db_readonly(database, "main") == 1 {
            unsafe sqlite3_close_v2(database)
            throw unsafe Failure(
                code: SQLITE_READONLY,
                cause: String(cString: sqlite3_errstr(SQLITE_READONLY)),
                number: Self.number(of: SQLITE_READONLY, 0, place, access)
            )
        }
        unsafe handle = database
        self.path = path
        accessMode = access
        self.watch = watch
        file = isInMemory ? nil : FileID(place)
        unsafe connector_sqlite_harden(database)
        unsafe sqlite3_busy_timeout(database, 10_000)
        let context = unsafe Unmanaged.passUnretained(watch).toOpaque()
        unsafe sqlite3_progress_handler(database, Self.stepsBetweenChecks, Self.check, context)
        try run("PRAGMA cell_size_check = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        if access == .reading { try run("PRAGMA query_only = ON") }
    }

    deinit {
        // The last connection writes the log to the file, as far as its index goes, and deletes it by name. By now it may belong to another
        // file, be another one, or have what another process has written by an index of its own. One that was merely removed is written.
        let isLogRemoved = FileID(path + "-wal") == nil
        if !isFileInPlace || !isLogRemoved && !(isLogInPlace && isIndexInPlace) { leaveLog() }
        unsafe sqlite3_close_v2(handle)
    }

    /// SQLite's progress handler. The connection keeps the watch alive.
    private static let check: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
        guard let context = unsafe context else { return 0 }
        return unsafe Unmanaged<StatementWatch>.fromOpaque(context).takeUnretainedValue().hasExpired ? 1 : 0
    }

    /// Whether the file, its log and the log's index are still at their paths. SQLite would keep using a removed or replaced one, and other
    /// processes another: what either writes would be lost.
    var isInPlace: Bool { isFileInPlace && isLogInPlace && isIndexInPlace }

    private var isFileInPlace: Bool { file == nil || FileID(path) == file }
    private var isLogInPlace: Bool { log == nil || FileID(path + "-wal") == log }
    private var isIndexInPlace: Bool { index == nil || FileID(path + "-shm") == index }

    /// Whether only the log's index was removed or replaced: the file and its log have everything that any process has written.
    var hasLostIndexAlone: Bool { isFileInPlace && log != nil && isLogInPlace && !isIndexInPlace }

    /// Whether the log at the path is this file's, and another file may be there, or none.
    var hasLeftLog: Bool { !isFileInPlace && log != nil && isLogInPlace }

    /// The file, its log and the log's index that are in use, once ``noteLog()`` was called.
    var place: Place { Place(file: file, log: log, index: index) }

    /// Notes which write-ahead log and which index are in use. SQLite never replaces them while the connection is open.
    func noteLog() {
        guard file != nil else { return }
        (log, index) = (FileID(path + "-wal"), FileID(path + "-shm"))
    }

    /// Makes the connection leave the log as it is when it closes, even if it is the last one.
    func leaveLog() { unsafe connector_sqlite_leave_log(handle) }

    /// Runs statements without parameters or results.
    func run(_ statements: String) throws(Failure) {
        guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Compiles a statement, which can be run any number of times while the connection lives.
    func statement(_ text: String) throws(Failure) -> Statement {
        var made: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let statement = unsafe made else { throw failure }
        return unsafe Statement(statement, of: self)
    }

    /// The number of rows that the last statement inserted, changed or deleted.
    var changes: Int { unsafe Int(sqlite3_changes(handle)) }

    /// The last error.
    var failure: Failure {
        let code = unsafe sqlite3_extended_errcode(handle)
        return unsafe Failure(
            code: code,
            cause: String(cString: sqlite3_errmsg(handle)),
            number: Self.number(of: code, sqlite3_system_errno(handle), path, accessMode)
        )
    }
}

extension Database.Place {
    /// Looks at what is at a path now.
    init(_ path: String) {
        self.init(file: FileID(path), log: FileID(path + "-wal"), index: FileID(path + "-shm"))
    }
}
