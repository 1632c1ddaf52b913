// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorManifest

/// A connection to an SQLite file, for one thread at a time. It closes at the end of its life.
@safe final class Database {
    private let handle: OpaquePointer
    private let path: String
    /// The file that was opened; nil for none.
    private let file: FileIdentity?

    /// A failure of SQLite.
    struct Failure: Error, CustomStringConvertible {
        /// The primary result code (sqlite.org/rescode.html).
        let code: Int32
        /// SQLite's words.
        let description: String

        /// Whether the file is no database, or a damaged one.
        var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

        /// Whether another process holds the file.
        var isBusy: Bool { code == SQLITE_BUSY }

        /// Whether the file could not be read or written.
        var isUnreadable: Bool { code == SQLITE_IOERR }

        /// Whether a copy may succeed later: there is no room now, or nobody lets us.
        var mayPass: Bool { [SQLITE_FULL, SQLITE_BUSY, SQLITE_NOMEM, SQLITE_CANTOPEN].contains(code) }
    }

    /// Opens a file, and makes it if it does not exist.
    init(_ path: String) throws(Failure) {
        var opened: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW
        let code = unsafe sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let database = unsafe opened else {
            let failure = unsafe Failure(code: code & 0xFF, description: String(cString: sqlite3_errstr(code)))
            unsafe sqlite3_close_v2(opened)
            throw failure
        }
        unsafe handle = database
        self.path = path
        file = path == ":memory:" ? nil : FileIdentity(path)
        unsafe sqlite3_busy_timeout(database, 10_000)
    }

    deinit {
        // The last connection to a file deletes its write-ahead log by name, which is another file's by now.
        if !isInPlace { unsafe connector_sqlite_leave_log(handle) }
        unsafe sqlite3_close_v2(handle)
    }

    /// Whether the file still lies where it was opened. SQLite goes on with one that was removed or replaced, and nobody
    /// else would ever see what it writes.
    var isInPlace: Bool { file == nil || FileIdentity(path) == file }

    /// Runs statements without parameters or results.
    func run(_ statements: String) throws(Failure) {
        guard unsafe sqlite3_exec(handle, statements, nil, nil, nil) == SQLITE_OK else { throw failure }
    }

    /// Compiles a statement, to be used any number of times while the connection lives.
    func statement(_ text: String) throws(Failure) -> Statement {
        var made: OpaquePointer?
        let code = unsafe sqlite3_prepare_v3(handle, text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &made, nil)
        guard code == SQLITE_OK, let statement = unsafe made else { throw failure }
        return unsafe Statement(statement, of: self)
    }

    /// How many rows the last statement inserted, changed or deleted.
    var changes: Int { unsafe Int(sqlite3_changes(handle)) }

    /// What went wrong last.
    var failure: Failure {
        unsafe Failure(code: sqlite3_errcode(handle) & 0xFF, description: String(cString: sqlite3_errmsg(handle)))
    }
}

/// A compiled statement with its parameters and the current row of its result.
@safe final class Statement {
    private let handle: OpaquePointer
    private unowned let database: Database

    fileprivate init(_ handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// How many steps of SQLite's virtual machine it has taken.
    var steps: Int { unsafe Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)) }

    /// A parameter's value.
    enum Value {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])

        /// The text, or null.
        static func text(orNull text: String?) -> Value { text.map(Value.text) ?? .null }
        /// A moment in nanoseconds, which SQLite's signed integers hold until 2262.
        static func time(_ time: Timestamp) -> Value { .integer(Int64(clamping: time.nanoseconds)) }
    }

    /// Runs the statement, and hands over each row of its result.
    func run(_ values: Value..., row: (borrowing Row) throws(Database.Failure) -> Void = { _ in }) throws(Database
        .Failure)
    {
        try run(values, row: row)
    }

    /// Runs the statement, and hands over each row of its result.
    func run(_ values: [Value], row: (borrowing Row) throws(Database.Failure) -> Void = { _ in }) throws(Database
        .Failure)
    {
        defer {
            unsafe sqlite3_reset(handle)
            unsafe sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        while true {
            switch unsafe sqlite3_step(handle) {
            case SQLITE_ROW: try row(unsafe Row(handle))
            case SQLITE_DONE: return
            default: throw database.failure
            }
        }
    }

    /// Runs the statement with the values of an event, which SQLite reads where they lie: it copies them into its pages alone.
    func insert(
        _ position: Int64,
        _ id: String,
        _ lane: String,
        _ created: Timestamp,
        _ payload: [UInt8]
    ) throws(Database.Failure) {
        var (id, lane) = (id, lane)
        let failure = id.withUTF8 { id in
            lane.withUTF8 { lane in
                unsafe payload.withUnsafeBytes { payload -> Database.Failure? in
                    // Nobody reads what is bound once this returns.
                    defer {
                        unsafe sqlite3_reset(handle)
                        unsafe sqlite3_clear_bindings(handle)
                    }
                    let (id, lane) = (UnsafeRawBufferPointer(id), UnsafeRawBufferPointer(lane))
                    let isBound =
                        unsafe sqlite3_bind_int64(handle, 1, position) == SQLITE_OK && lend(id, isText: true, at: 2)
                        && lend(lane, isText: true, at: 3)
                        && sqlite3_bind_int64(handle, 4, Int64(clamping: created.nanoseconds)) == SQLITE_OK
                        && lend(payload, isText: false, at: 5)
                    return unsafe isBound && sqlite3_step(handle) == SQLITE_DONE ? nil : database.failure
                }
            }
        }
        if let failure { throw failure }
    }

    /// Binds bytes that outlive the next step.
    @unsafe private func lend(_ bytes: UnsafeRawBufferPointer, isText: Bool, at index: Int32) -> Bool {
        // Without an address they would be null.
        guard let start = bytes.baseAddress else {
            return unsafe sqlite3_bind_zeroblob(handle, index, 0) == SQLITE_OK
        }
        let count = UInt64(bytes.count)
        guard isText else { return unsafe sqlite3_bind_blob64(handle, index, start, count, nil) == SQLITE_OK }
        let text = unsafe start.assumingMemoryBound(to: CChar.self)
        return unsafe sqlite3_bind_text64(handle, index, text, count, nil, UInt8(SQLITE_UTF8)) == SQLITE_OK
    }

    /// Runs the statement, and takes the first column of the first row.
    func integer(_ values: Value...) throws(Database.Failure) -> Int64? {
        var result: Int64?
        try run(values) { row in result = result ?? row.optionalInteger(0) }
        return result
    }

    private func bind(_ value: Value, at index: Int32) throws(Database.Failure) {
        let transient = unsafe connector_sqlite_transient()
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(handle, index)
            case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
            case .text(let text): unsafe sqlite3_bind_text(handle, index, text, Int32(text.utf8.count), transient)
            case .blob([]): unsafe sqlite3_bind_zeroblob(handle, index, 0)
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes {
                    unsafe sqlite3_bind_blob(handle, index, $0.baseAddress, Int32($0.count), transient)
                }
            }
        guard code == SQLITE_OK else { throw database.failure }
    }

    /// A row, valid while it is handed over.
    @safe struct Row: ~Copyable {
        private let handle: OpaquePointer

        fileprivate init(_ handle: OpaquePointer) {
            unsafe self.handle = handle
        }

        /// A number; 0 for null.
        func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

        /// A number, or nil for null.
        func optionalInteger(_ column: Int32) -> Int64? {
            unsafe sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : integer(column)
        }

        /// A moment.
        func time(_ column: Int32) -> Timestamp { Timestamp(nanoseconds: UInt64(max(0, integer(column)))) }

        /// A text; empty for null.
        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

        /// Whether a text is another.
        func isText(_ column: Int32, _ text: String) -> Bool {
            let isEqual = unsafe text.utf8.withContiguousStorageIfAvailable { expected in
                guard let start = unsafe sqlite3_column_blob(handle, column) else { return expected.isEmpty }
                let bytes = unsafe UnsafeRawBufferPointer(
                    start: start,
                    count: Int(sqlite3_column_bytes(handle, column))
                )
                return unsafe bytes.elementsEqual(expected)
            }
            return isEqual ?? (self.text(column) == text)
        }

        /// The bytes of a text or a blob; none for null.
        func bytes(_ column: Int32) -> [UInt8] {
            guard let start = unsafe sqlite3_column_blob(handle, column) else { return [] }
            return unsafe Array(UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(handle, column))))
        }
    }
}

extension Database.Failure {
    /// What an operator can do about it.
    func fix(_ path: String) -> String? {
        switch code {
        case SQLITE_FULL: "make room on the disk of \(path)"
        case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM: "let this user write \(path) and its directory"
        case SQLITE_BUSY: "another process holds the file for long: find it with fuser \(path)"
        case SQLITE_IOERR: "look at the system's log: the disk reports errors"
        default: nil
        }
    }
}
