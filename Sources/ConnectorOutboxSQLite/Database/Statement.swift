// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

/// A compiled statement with its parameters and the current row of its result.
@safe final class Statement {
    private let handle: OpaquePointer
    private unowned let database: Database

    /// Wraps a compiled statement, and finalizes it when this object is deallocated.
    @unsafe init(_ handle: OpaquePointer, of database: Database) {
        unsafe self.handle = handle
        self.database = database
    }

    deinit {
        unsafe sqlite3_finalize(handle)
    }

    /// The number of steps of SQLite's virtual machine that it has run.
    var steps: Int { unsafe Int(sqlite3_stmt_status(handle, SQLITE_STMTSTATUS_VM_STEP, 0)) }

    /// A parameter's value.
    enum Value {
        case null
        case integer(Int64)
        case text(String)
        case blob([UInt8])

        /// The text, or null.
        static func text(orNull text: String?) -> Value { text.map(Value.text) ?? .null }
        /// A time in nanoseconds, which fits into SQLite's signed integers until the year 2262.
        static func time(_ time: Timestamp) -> Value { .integer(Int64(clamping: time.nanoseconds)) }
    }

    /// Runs the statement, and calls a body with each row of its result.
    func run(_ values: Value..., row: (borrowing Row) throws(Database.Failure) -> Void = { _ in }) throws(Database
        .Failure)
    {
        try run(values, row: row)
    }

    /// Runs the statement, and calls a body with each row of its result.
    func run(_ values: [Value], row: (borrowing Row) throws(Database.Failure) -> Void = { _ in }) throws(Database
        .Failure)
    {
        try run(
            values,
            until: { next throws(Database.Failure) in
                try row(next)
                return false
            }
        )
    }

    /// Runs the statement, and calls a body with each row of its result until the body returns true. Later rows are not read.
    func run(_ values: [Value], until isEnough: (borrowing Row) throws(Database.Failure) -> Bool) throws(Database
        .Failure)
    {
        defer {
            unsafe sqlite3_reset(handle)
            unsafe sqlite3_clear_bindings(handle)
        }
        for (index, value) in values.enumerated() { try bind(value, at: Int32(index + 1)) }
        while true {
            switch unsafe sqlite3_step(handle) {
            case SQLITE_ROW: if try isEnough(unsafe Row(handle)) { return }
            case SQLITE_DONE: return
            default: throw database.failure
            }
        }
    }

    /// Runs the statement with an event and its checksum. The values are bound without a copy: SQLite copies them only into its
    /// pages.
    func insert(
        _ position: Int64,
        _ id: String,
        _ lane: String,
        _ created: Timestamp,
        _ payload: [UInt8]
    ) throws(Database.Failure) {
        var (id, lane) = (id, lane)
        let time = Int64(clamping: created.nanoseconds)
        let failure = id.withUTF8 { id in
            lane.withUTF8 { lane in
                unsafe payload.withUnsafeBytes { payload -> Database.Failure? in
                    // The bound memory is not valid after this returns.
                    defer {
                        unsafe sqlite3_reset(handle)
                        unsafe sqlite3_clear_bindings(handle)
                    }
                    let (id, lane) = (UnsafeRawBufferPointer(id), UnsafeRawBufferPointer(lane))
                    let checksum = unsafe Self.checksum(position, time, id, lane, payload)
                    let isBound =
                        unsafe sqlite3_bind_int64(handle, 1, position) == SQLITE_OK && lend(id, isText: true, at: 2)
                        && lend(lane, isText: true, at: 3) && sqlite3_bind_int64(handle, 4, time) == SQLITE_OK
                        && lend(payload, isText: false, at: 5) && sqlite3_bind_int64(handle, 6, checksum) == SQLITE_OK
                    return unsafe isBound && sqlite3_step(handle) == SQLITE_DONE ? nil : database.failure
                }
            }
        }
        if let failure { throw failure }
    }

    /// The checksum of an event's row, including the lengths of its texts.
    @unsafe private static func checksum(
        _ position: Int64,
        _ created: Int64,
        _ id: UnsafeRawBufferPointer,
        _ lane: UnsafeRawBufferPointer,
        _ payload: UnsafeRawBufferPointer
    ) -> Int64 {
        var checksum = Checksum()
        let numbers = (
            position.littleEndian, created.littleEndian, UInt64(id.count).littleEndian,
            UInt64(lane.count).littleEndian
        )
        let size = MemoryLayout.size(ofValue: numbers)
        // In one piece, because zlib takes longer for three short ones than for most payloads.
        unsafe withUnsafeTemporaryAllocation(byteCount: size + id.count + lane.count, alignment: 8) { head in
            unsafe head.storeBytes(of: numbers, as: type(of: numbers))
            unsafe UnsafeMutableRawBufferPointer(rebasing: head[size...]).copyMemory(from: id)
            unsafe UnsafeMutableRawBufferPointer(rebasing: head[(size + id.count)...]).copyMemory(from: lane)
            unsafe checksum.add(UnsafeRawBufferPointer(head))
        }
        unsafe checksum.add(payload)
        return Int64(checksum.value)
    }

    /// Binds bytes without a copy; they must stay valid during the next step.
    @unsafe private func lend(_ bytes: UnsafeRawBufferPointer, isText: Bool, at index: Int32) -> Bool {
        // Without an address SQLite would bind NULL.
        guard let start = bytes.baseAddress else {
            return unsafe sqlite3_bind_zeroblob(handle, index, 0) == SQLITE_OK
        }
        let count = UInt64(bytes.count)
        guard isText else { return unsafe sqlite3_bind_blob64(handle, index, start, count, nil) == SQLITE_OK }
        let text = unsafe start.assumingMemoryBound(to: CChar.self)
        return unsafe sqlite3_bind_text64(handle, index, text, count, nil, UInt8(SQLITE_UTF8)) == SQLITE_OK
    }

    /// Runs the statement, and returns the first column of the first row; nil if it is null, or there is no row.
    ///
    /// - Throws: A damage failure if it is not a number in the range.
    func integer(
        _ values: Value...,
        in range: ClosedRange<Int64> = Schema.counts
    ) throws(Database.Failure) -> Int64? {
        var result: Int64?
        try run(
            values,
            until: { row throws(Database.Failure) in
                result = try row.optionalInteger(0, in: range)
                return true
            }
        )
        return result
    }

    private func bind(_ value: Value, at index: Int32) throws(Database.Failure) {
        let transient = unsafe connector_sqlite_transient()
        let code =
            switch value {
            case .null: unsafe sqlite3_bind_null(handle, index)
            case .integer(let number): unsafe sqlite3_bind_int64(handle, index, number)
            case .text(let text):
                unsafe sqlite3_bind_text64(
                    handle,
                    index,
                    text,
                    UInt64(text.utf8.count),
                    transient,
                    UInt8(SQLITE_UTF8)
                )
            case .blob([]): unsafe sqlite3_bind_zeroblob(handle, index, 0)
            case .blob(let bytes):
                unsafe bytes.withUnsafeBytes {
                    unsafe sqlite3_bind_blob64(handle, index, $0.baseAddress, UInt64($0.count), transient)
                }
            }
        guard code == SQLITE_OK else { throw database.failure }
    }

    /// A row, valid only during the call that receives it. The file is untrusted, so each read of a number specifies its range.
    @safe struct Row: ~Copyable {
        private let handle: OpaquePointer

        fileprivate init(_ handle: OpaquePointer) {
            unsafe self.handle = handle
        }

        /// A number.
        ///
        /// - Throws: A damage failure if it is null or not a number in the range.
        func integer(_ column: Int32, in range: ClosedRange<Int64> = Schema.counts) throws(Database.Failure) -> Int64 {
            if let number = try optionalInteger(column, in: range) { return number }
            throw damage(column, "null")
        }

        /// A number, or nil for null.
        ///
        /// - Throws: A damage failure if it is neither null nor a number in the range.
        func optionalInteger(
            _ column: Int32,
            in range: ClosedRange<Int64> = Schema.counts
        ) throws(Database.Failure) -> Int64? {
            switch unsafe sqlite3_column_type(handle, column) {
            case SQLITE_NULL: return nil
            case SQLITE_INTEGER:
                let number = unsafe sqlite3_column_int64(handle, column)
                guard range.contains(number) else { throw damage(column, "\(number)") }
                return number
            default: throw damage(column, "not a number")
            }
        }

        private func damage(_ column: Int32, _ value: String) -> Database.Failure {
            let name =
                unsafe sqlite3_column_name(handle, column).map { unsafe String(cString: $0) } ?? "column \(column)"
            return .damaged("the value of \(name) is \(value)")
        }

        /// A time.
        func time(_ column: Int32) throws(Database.Failure) -> Timestamp {
            Timestamp(nanoseconds: UInt64(clamping: try integer(column, in: Schema.times)))
        }

        /// When an event was sent: a time, and the earliest one for a number that the disk has made negative.
        func sendingTime(_ column: Int32) throws(Database.Failure) -> Timestamp {
            Timestamp(nanoseconds: UInt64(clamping: try integer(column, in: Int64.min...Int64.max)))
        }

        /// A time, or nil for null.
        func optionalTime(_ column: Int32) throws(Database.Failure) -> Timestamp? {
            try optionalInteger(column, in: Schema.times).map { Timestamp(nanoseconds: UInt64(clamping: $0)) }
        }

        /// A text; empty for null.
        func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

        /// Whether the text in a column equals another.
        func isText(_ column: Int32, _ text: String) -> Bool {
            let isEqual = unsafe text.utf8.withContiguousStorageIfAvailable { expected in
                unsafe raw(column).elementsEqual(expected)
            }
            return isEqual ?? (self.text(column) == text)
        }

        /// The bytes of a text or a blob; none for null.
        func bytes(_ column: Int32) -> [UInt8] { unsafe Array(raw(column)) }

        /// How many bytes a text or a blob has; none for null.
        func count(_ column: Int32) -> Int { unsafe raw(column).count }

        /// Appends a blob, the payload of an event, to a batch: the only copy of SQLite's memory.
        func append(_ column: Int32, of entry: OutboxBatch.Entry, to batch: inout OutboxBatch) {
            let payload = unsafe raw(column)
            batch.append(entry) { unsafe $0.append(contentsOf: payload) }
        }

        /// Whether the checksum matches, in a row of position, id, lane, created, payload and checksum. Events stored by earlier
        /// versions have no checksum, and count as intact if they have a time and their payload is one JSON value: anything else would
        /// change the array of its batch.
        func isIntact() -> Bool {
            switch unsafe sqlite3_column_type(handle, 5) {
            case SQLITE_NULL: (try? time(3)) != nil && (try? JSONValue(document: bytes(4))) != nil
            case SQLITE_INTEGER:
                unsafe sqlite3_column_int64(handle, 5)
                    == Statement.checksum(
                        sqlite3_column_int64(handle, 0),
                        sqlite3_column_int64(handle, 3),
                        raw(1),
                        raw(2),
                        raw(4)
                    )
            default: false
            }
        }

        /// The value of a column in a damaged file.
        func salvaged(_ column: Int32) -> SalvagedValue {
            switch unsafe sqlite3_column_type(handle, column) {
            case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(handle, column))
            case SQLITE_TEXT: .text(bytes(column))
            case SQLITE_BLOB: .blob(bytes(column))
            default: .none
            }
        }

        /// The bytes in SQLite's memory, valid until the next step.
        @unsafe private func raw(_ column: Int32) -> UnsafeRawBufferPointer {
            // The address must be read first: reading it may convert the value, and so change the count.
            let start = unsafe sqlite3_column_blob(handle, column)
            return unsafe UnsafeRawBufferPointer(
                start: start,
                count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column))
            )
        }
    }
}
