// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorManifest

/// A parameter of a statement, or a value of its result.
enum SQLiteValue: Sendable {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)

    /// Binds the value to a statement, which copies it; false if the statement cannot take it.
    @unsafe func bind(to statement: OpaquePointer, at index: Int32) -> Bool {
        let code =
            switch self {
            case .null: unsafe sqlite3_bind_null(statement, index)
            case .integer(let number): unsafe sqlite3_bind_int64(statement, index, number)
            case .real(let number): unsafe sqlite3_bind_double(statement, index, number)
            case .text(let text):
                unsafe sqlite3_bind_text64(
                    statement,
                    index,
                    text,
                    UInt64(text.utf8.count),
                    connector_sqlite_transient(),
                    UInt8(SQLITE_UTF8)
                )
            }
        return code == SQLITE_OK
    }
}

extension SQLiteValue {
    /// Reads a value of a cursor; nil for a value that no cursor contains.
    init?(json: JSONValue) {
        switch json {
        case .null: self = .null
        case .integer(let number): self = .integer(number)
        case .number(let number): self = .real(number)
        case .string(let text): self = .text(text)
        case .bool, .array, .object: return nil
        }
    }

    /// The value in a cursor.
    var json: JSONValue {
        switch self {
        case .null: .null
        case .integer(let number): .integer(number)
        case .real(let number): .number(number)
        case .text(let text): .string(text)
        }
    }
}

/// A row of a result, valid only while the closure that receives it runs.
@safe struct SQLiteRow {
    private let statement: OpaquePointer

    @unsafe init(_ statement: OpaquePointer) {
        unsafe self.statement = statement
    }

    /// A whole number; nil for anything else.
    func integer(_ column: Int32) -> Int64? {
        guard unsafe sqlite3_column_type(statement, column) == SQLITE_INTEGER else { return nil }
        return unsafe sqlite3_column_int64(statement, column)
    }

    /// A text; empty for null.
    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// The bytes of a text; none for null.
    func bytes(_ column: Int32) -> [UInt8] {
        // Get the address first: doing so may convert the value, which changes the count.
        let start = unsafe sqlite3_column_blob(statement, column)
        let count = unsafe start == nil ? 0 : Int(sqlite3_column_bytes(statement, column))
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }

    /// A value of any type.
    func value(_ column: Int32) -> SQLiteValue {
        switch unsafe sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: .integer(unsafe sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: .real(unsafe sqlite3_column_double(statement, column))
        case SQLITE_TEXT: .text(text(column))
        default: .null
        }
    }
}
