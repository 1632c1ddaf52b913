// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorKit

/// A connection to a file with records, for one thread at a time. Releasing it closes it.
///
/// The file is treated as hostile: nothing in its schema runs.
@safe final class SQLiteConnection {
    /// The version of the library, such as `3.40.1`.
    static var libraryVersion: String { unsafe String(cString: sqlite3_libversion()) }

    /// The steps of SQLite's virtual machine between two checks whether to continue: about 0.1 ms.
    private static let stepsBetweenQuestions: Int32 = 10_000
    /// How often to try for a lock without a deadline, every 10 ms.
    private static let patience: Int32 = 1000
    /// The size of a page, in bytes.
    private static let pageSize: Int64 = 4096

    private let handle: OpaquePointer
    /// Where the file is by its configuration, maybe through a symbolic link that may be replaced.
    private let path: String
    private let identity: (device: UInt64, number: UInt64)?
    /// The call that the current work is for.
    private var call: DiskCall

    /// Opens a file, and creates what is missing: the file itself, or the table in an empty one.
    ///
    /// - Parameters:
    ///   - path: The path of the file; see ``SQLitePath/checked(_:)``.
    ///   - maxBytes: The greatest size of the file, in bytes; a larger file accepts no more data.
    ///   - call: The call that opens the file.
    init(_ path: String, maxBytes: Int64, during call: DiskCall) throws(PluginError) {
        let place = try SQLitePath.checked(path)
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = unsafe sqlite3_open_v2(place, &opened, flags, nil)
        guard code == SQLITE_OK, let database = unsafe opened else {
            let words = unsafe String(cString: sqlite3_errstr(code))
            unsafe sqlite3_close_v2(opened)
            throw SQLiteFailure.error(code, words)
        }
        unsafe handle = database
        (self.path, self.call, identity) = (path, call, SQLitePath.identity(of: place))
        unsafe sqlite3_extended_result_codes(database, 1)
        unsafe connector_sqlite_harden(database)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe sqlite3_busy_handler(database, Self.waitForLock, context)
        unsafe sqlite3_progress_handler(database, Self.stepsBetweenQuestions, Self.mustStop, context)
        guard unsafe sqlite3_db_readonly(database, "main") == 0 else {
            throw SQLiteFailure.error(SQLITE_READONLY, "attempt to write a readonly database")
        }
        try run("PRAGMA cell_size_check = ON; PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON")
        try SQLiteSchema.prepare(self)
        try run("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        try run("PRAGMA max_page_count = \(max(16, maxBytes / Self.pageSize))")
    }

    deinit {
        // The last connection to a file deletes its write-ahead log by name. By now, the log with that name may belong
        // to another file.
        if !isInPlace { unsafe connector_sqlite_leave_log(handle) }
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether the file is still where its configuration says.
    var isInPlace: Bool {
        guard let identity, let found = SQLitePath.identity(of: path) else { return false }
        return identity == found
    }

    /// Sets the call that the following work is for.
    func serve(_ call: DiskCall) {
        self.call = call
    }

    /// Runs constant statements, without parameters or results.
    func run(_ statements: String) throws(PluginError) {
        guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Runs one statement with its parameters, and passes each row of its result to the closure until that returns false.
    func run(
        _ text: String,
        _ values: SQLiteValue...,
        row: (SQLiteRow) throws(PluginError) -> Bool = { _ in true }
    ) throws(PluginError) {
        try run(text, values, row: row)
    }

    /// Runs one statement with its parameters, and passes each row of its result to the closure until that returns false.
    func run(
        _ text: String,
        _ values: [SQLiteValue],
        row: (SQLiteRow) throws(PluginError) -> Bool
    ) throws(PluginError) {
        var made: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(handle, text, -1, &made, nil)
        guard code == SQLITE_OK, let statement = unsafe made else { throw failure }
        defer { unsafe sqlite3_finalize(statement) }
        for (index, value) in values.enumerated() {
            guard unsafe value.bind(to: statement, at: Int32(index + 1)) else { throw failure }
        }
        while true {
            switch unsafe sqlite3_step(statement) {
            case SQLITE_ROW: guard try row(unsafe SQLiteRow(statement)) else { return }
            case SQLITE_DONE: return
            default: throw failure
            }
        }
    }

    /// Runs changes that take effect all together or not at all, and not if the call has ended before the commit begins.
    func transaction<Value>(_ body: () throws(PluginError) -> Value) throws(PluginError) -> Value {
        try run("BEGIN IMMEDIATE")
        do throws(PluginError) {
            let value = try body()
            if let end = call.end { throw end }
            try run("COMMIT")
            return value
        } catch {
            // Some errors end the transaction by themselves.
            if unsafe sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// How many rows the last statement inserted, changed or deleted.
    var changes: Int { unsafe Int(sqlite3_changes(handle)) }

    /// The row number of the last insert.
    var insertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

    /// The error of the last step; if it failed because the call has ended, the reason for that.
    private var failure: PluginError {
        let code = unsafe sqlite3_extended_errcode(handle)
        if [SQLITE_INTERRUPT, SQLITE_BUSY].contains(code & 0xFF), let end = call.end { return end }
        return unsafe SQLiteFailure.error(code, String(cString: sqlite3_errmsg(handle)))
    }

    /// SQLite's progress handler, called now and then; the connection outlives its handle.
    private static let mustStop: @convention(c) (UnsafeMutableRawPointer?) -> Int32 = { context in
        guard let context = unsafe context else { return 0 }
        let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
        return connection.call.end == nil ? 0 : 1
    }

    /// SQLite's busy handler, called when another process holds a lock. A lock on a file cannot be awaited with a
    /// deadline, so SQLite tries again after a pause.
    private static let waitForLock: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { context, attempt in
        guard let context = unsafe context, attempt < patience else { return 0 }
        let connection = unsafe Unmanaged<SQLiteConnection>.fromOpaque(context).takeUnretainedValue()
        guard connection.call.end == nil else { return 0 }
        sqlite3_sleep(min(10, 1 + attempt))
        return 1
    }
}
