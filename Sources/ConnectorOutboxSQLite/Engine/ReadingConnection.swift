// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A connection that reads an outbox's file, opened at the first reading.
///
/// Each reading is a transaction of its own that takes no lock: the write-ahead log shows it what was committed when it began. So
/// readers do not wait for writers, nor writers for readers. One thread at a time uses the connection.
final class ReadingConnection: Sendable {
    private struct State {
        var tables: OutboxTables?
        var isClosed = false
    }

    private let open: @Sendable () throws(Database.Failure) -> OutboxTables
    private let state = Mutex(State())

    /// Prepares a connection.
    ///
    /// - Parameter open: Opens the file, under a watch that limits the time of each reading.
    init(open: @escaping @Sendable () throws(Database.Failure) -> OutboxTables) {
        self.open = open
    }

    /// Reads in one transaction, from the file that is in its place now.
    ///
    /// - Throws: A failure; its ``Database/Failure/file`` is the open file, if any.
    func read<Value: Sendable>(
        _ body: @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) throws(Database.Failure) -> Value {
        try state.withLock { state throws(Database.Failure) -> Value in
            guard !state.isClosed else { throw SQLiteThread.closed }
            do throws(Database.Failure) {
                if state.tables?.database.isInPlace == false { state.tables = nil }
                let tables = if let tables = state.tables { tables } else { try open() }
                state.tables = tables
                return try tables.snapshot(body)
            } catch {
                var failure = error
                failure.file = state.tables?.database.file
                // After opening the file again, SQLite may be able to read the log, or detect the damage.
                if failure.isDamage || failure.isUnreadable { state.tables = nil }
                throw failure
            }
        }
    }

    /// Closes the file, which was removed or replaced; the next reading opens it again.
    func leave() { state.withLock { $0.tables = nil } }

    /// Closes the file; every later reading throws.
    func close() {
        state.withLock { state in
            state.isClosed = true
            state.tables = nil
        }
    }
}

/// The file that the writer of an engine opened last. Its readers open no other.
///
/// The log beside a file that has replaced another one may still be the other's: SQLite would read it into the new file. And all connections
/// of a process share the index of the log, so that a removed one stays in use until the last of them leaves the file.
final class WrittenFile: Sendable {
    private let state = Mutex<Database.Place?>(nil)

    /// The file, its log and the log's index; nil until the writer has opened one.
    var place: Database.Place? {
        get { state.withLock(\.self) }
        set { state.withLock { $0 = newValue } }
    }
}
