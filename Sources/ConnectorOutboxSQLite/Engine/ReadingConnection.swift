// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A connection that reads an outbox's file, opened at the first reading.
///
/// Each reading is a transaction of its own that takes no lock: the write-ahead log shows it what was committed when it began. So
/// readers do not wait for writers, nor writers for readers. One thread at a time uses the connection.
struct ReadingConnection: ~Copyable {
    private let open: @Sendable () throws(Database.Failure) -> OutboxTables
    private var tables: OutboxTables?
    private var isClosed = false

    /// Prepares a connection.
    ///
    /// - Parameter open: Opens the file, under a watch that limits the time of each reading.
    init(open: @escaping @Sendable () throws(Database.Failure) -> OutboxTables) {
        self.open = open
    }

    /// Reads in one transaction, from the file that is in its place now.
    ///
    /// - Throws: A failure; its ``Database/Failure/file`` is the open file, if any.
    mutating func read(
        _ body: (OutboxTables) throws(Database.Failure) -> Void
    ) throws(Database.Failure) {
        guard !isClosed else { throw SQLiteThread.closed }
        do throws(Database.Failure) {
            if tables?.database.isInPlace == false { tables = nil }
            let tables = if let tables { tables } else { try open() }
            self.tables = tables
            try tables.snapshot(body)
        } catch {
            var failure = error
            failure.file = tables?.database.file
            // After opening the file again, SQLite may be able to read the log, or detect the damage.
            if failure.isDamage || failure.isUnreadable { tables = nil }
            throw failure
        }
    }

    /// Closes the file; the next reading opens it again.
    mutating func leave() { tables = nil }

    /// Closes the file; every later reading throws.
    mutating func close() {
        isClosed = true
        tables = nil
    }
}

/// A reading connection of an engine, which its writer makes leave a file that was removed or replaced.
final class SharedReadingConnection: Sendable {
    let connection: Mutex<ReadingConnection>

    /// Prepares a connection, as ``ReadingConnection/init(open:)`` does.
    init(open: @escaping @Sendable () throws(Database.Failure) -> OutboxTables) {
        connection = Mutex(ReadingConnection(open: open))
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
