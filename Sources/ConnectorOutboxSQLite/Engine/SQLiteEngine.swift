// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorOutbox
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The outbox engine on an SQLite file, in a directory that only this user can access.
///
/// Events are stable once the write-ahead log is on disk (`synchronous=FULL`): neither a crash of the process nor a power
/// failure loses them, if the disk honors synchronization. Concurrent callers share one synchronization. The outcome of a
/// delivery is written immediately, and synchronized with the next new event. Several processes may use one file.
///
/// One connection writes, on its own thread. Two read: one for the deliveries, on their threads, because a batch is due as soon
/// as its events are stored; and one for reports and operators, on a thread that a long listing may hold.
package final class SQLiteEngine: OutboxEngine {
    private let writer: SQLiteThread
    /// They read concurrently with the writer, batches on the threads of the deliveries; nil for an outbox in memory, which has one
    /// connection.
    private let readers: (reports: SQLiteReader, batches: ReadingConnection)?
    private let batchWatch = StatementWatch()
    /// Whether the file could not be written since the last check.
    private let isSuspect = Atomic(false)
    /// How many checks there were since an event was last stored; as many as call for another one until the first was.
    let idleChecks = Atomic(SQLiteEngine.idleLimit)
    /// How many checks may pass without an event that shows that events can be stored: half a minute of an outbox that looks every second.
    private static let idleLimit = 30
    private let now: @Sendable () -> Timestamp
    /// Where its file is.
    private let filePath: String

    package let stability: String

    /// The name of the file in its directory.
    package static let fileName = "outbox.sqlite"

    /// Creates an outbox in memory, for tests and simulations.
    package init(now: @escaping @Sendable () -> Timestamp) async throws(ConnectorError) {
        filePath = ":memory:"
        stability = "memory; the end of the process loses everything"
        self.now = now
        readers = nil
        let (revisions, watch) = (StoreRevisions(), StatementWatch())
        let file = SQLiteThread.File(
            open: { () throws(Database.Failure) in try OutboxTables(":memory:", watch: watch, revisions: revisions) },
            recover: { failure, _ throws(Database.Failure) in throw failure },
            restore: { _ in }
        )
        do throws(Database.Failure) {
            // A reading must see only complete transactions, so it never shares one.
            writer = try await SQLiteThread(limit: 1, watch: watch, file)
        } catch {
            throw Self.error(error, filePath)
        }
    }

    /// Opens the file in a directory. Creates both if they do not exist.
    ///
    /// - Parameters:
    ///   - directory: The directory; must belong to this user and have the mode 0700.
    ///   - space: Tells the space of a directory's volume; nil if it is not known.
    ///   - onSalvage: Called on the writer's thread every few seconds of a salvage, with the number of rows that it has read.
    ///   - now: Returns the wall-clock time.
    ///   - onDamage: Called on the writer's thread with the new path of a damaged file, nil for one that is lost, and with the reason
    ///     and a summary of the data that could be read.
    /// - Throws: `storage` if the directory or the file cannot be used, or the task is cancelled while a damaged file is salvaged.
    package init(
        directory: String,
        space: @escaping @Sendable (String) -> VolumeSpace? = { VolumeSpace(of: $0) },
        onSalvage: @escaping @Sendable (_ rows: Int) -> Void = { _ in },
        now: @escaping @Sendable () -> Timestamp,
        onDamage: @escaping @Sendable (_ setAside: String?, _ reason: String) -> Void
    ) async throws(ConnectorError) {
        try Self.prepare(directory)
        stability = "SQLite, synchronized to the disk of this machine; survives a crash and a power failure"
        let path = "\(directory)/\(Self.fileName)"
        filePath = path
        self.now = now
        let (revisions, watch, readerWatch) = (StoreRevisions(), StatementWatch(), StatementWatch())
        let written = WrittenFile()
        let batches = ReadingConnection(open: Self.reading(path, batchWatch, revisions, of: written))
        let reports = ReadingConnection(open: Self.reading(path, readerWatch, revisions, of: written))
        let file = SQLiteThread.File(
            open: { () throws(Database.Failure) in
                let tables = try Self.openFile(
                    path,
                    in: directory,
                    now(),
                    watch,
                    { path throws(Database.Failure) in
                        try OutboxTables(path, watch: watch, revisions: revisions, space: { space(directory) })
                    },
                    onSalvage: onSalvage,
                    onDamage: onDamage
                )
                written.place = tables.database.place
                return tables
            },
            recover: { failure, file throws(Database.Failure) in
                try Self.recover(
                    path,
                    failure,
                    of: file,
                    in: directory,
                    now(),
                    watch,
                    onSalvage: onSalvage,
                    onDamage: onDamage
                )
            },
            restore: { tables throws(Database.Failure) in
                for reading in [batches, reports] { reading.leave() }
                try? Self.prepare(directory)
                do throws(Database.Failure) {
                    guard let aside = try Self.restore(path, from: tables, now()) else { return }
                    onDamage(aside, "another file, or another log, was put in its place")
                } catch {
                    // Data that cannot be read is lost with the removed file. Any other problem may be temporary.
                    guard error.isDamage else { throw error }
                    if let aside = Self.damagedFile(tables.database.file, in: directory) {
                        return onDamage(aside, "another process has replaced it: \(error.reason)")
                    }
                    onDamage(nil, "\(path) was removed while it was open, and cannot be read: \(error.reason)")
                }
            },
            end: { batches.close() }
        )
        do throws(Database.Failure) {
            writer = try await SQLiteThread(watch: watch, file)
            do throws(Database.Failure) {
                readers = (reports: try SQLiteReader(watch: readerWatch, reports), batches: batches)
            } catch {
                await writer.close()
                throw error
            }
        } catch {
            throw Self.error(error, path, isOpening: true)
        }
    }

    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        _ onStored: @escaping @Sendable (OutboxStep) -> Void
    ) async throws(ConnectorError) -> OutboxStep {
        do throws(Database.Failure) {
            let step = try await writer.store(events, to: paths, then: onStored)
            idleChecks.store(0, ordering: .relaxed)
            return step
        } catch {
            throw failed(error)
        }
    }

    package func append(
        _ events: [OutboxEvent],
        to paths: [String],
        within bounds: [String: QueueBound],
        _ onStored: @escaping @Sendable (StoringOutcome) -> Void
    ) async throws(ConnectorError) -> StoringOutcome? {
        let append = { @Sendable (tables: OutboxTables) throws(Database.Failure) in
            try tables.append(events, to: paths, within: bounds)
        }
        do throws(Database.Failure) {
            let outcome = try await writer.perform(isStable: true, append, then: onStored)
            if outcome.full == nil { idleChecks.store(0, ordering: .relaxed) }
            return outcome
        } catch {
            throw failed(error)
        }
    }

    package func prove() async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in try tables.prove() }
        idleChecks.store(0, ordering: .relaxed)
    }

    /// Stores and deletes an event again if the file could not be written lately, since a disk that was full may have room now; if its
    /// volume has become read-only; and if nothing has been stored for half a minute. Some volumes that refuse every change tell nobody
    /// before somebody tries one.
    package func check(_ paths: [String]) async throws(ConnectorError) {
        let isIdle = idleChecks.add(1, ordering: .relaxed).newValue > Self.idleLimit
        let wasSuspect = isSuspect.exchange(false, ordering: .relaxed)
        guard wasSuspect || isIdle || isOnReadOnlyVolume else { return }
        try await prove()
    }

    /// Whether the file's volume takes no changes, as far as the system tells.
    private var isOnReadOnlyVolume: Bool { unsafe access(filePath, W_OK) != 0 && errno == EROFS }

    package func batch(
        for path: String,
        upTo limits: BatchLimits,
        now: Timestamp
    ) async throws(ConnectorError) -> OutboxBatch {
        guard let readers else {
            return try await perform(isStable: false) { tables throws(Database.Failure) in
                try tables.batch(for: path, upTo: limits, now: now)
            }
        }
        func read() throws(Database.Failure) -> OutboxBatch {
            try readers.batches.read { tables throws(Database.Failure) in
                try tables.batch(for: path, upTo: limits, now: now)
            }
        }
        do throws(Database.Failure) {
            do throws(Database.Failure) {
                return try read()
            } catch {
                try await repair(after: error)
                return try read()
            }
        } catch {
            throw Self.error(error, filePath)
        }
    }

    /// If a power failure undoes it, the events are delivered again, with the same ids.
    @discardableResult
    package func settle(
        _ batch: OutboxBatch,
        _ outcomes: [DeliveryOutcome],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep {
        try await perform(isStable: false) { tables throws(Database.Failure) in
            let settled = try tables.settle(batch, outcomes, attempt)
            return OutboxStep(
                revision: tables.revision,
                isApplied: settled.isApplied,
                restored: settled.restored
            )
        }
    }

    package func rewind(_ path: String, now: Timestamp) async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in try tables.rewind(path, now: now) }
    }

    package func expediteRetries(of path: String, now: Timestamp) async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in try tables.expediteRetries(of: path, now: now) }
    }

    package func dropOldest(_ bytes: Int, of path: String) async throws(ConnectorError) -> [String] {
        try await perform { tables throws(Database.Failure) in try tables.dropOldest(bytes, of: path).ids }
    }

    package func countDropped(_ count: Int, of path: String) async throws(ConnectorError) -> UInt64 {
        try await perform(isStable: false) { tables throws(Database.Failure) in
            try tables.countDropped(count, of: path)
            return tables.revision
        }
    }

    package func read() async throws(ConnectorError) -> OutboxReading {
        try await query { tables throws(Database.Failure) in
            OutboxReading(revision: try tables.readingRevision().revision, statistics: try tables.statistics())
        }
    }

    package func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        try await query { tables throws(Database.Failure) in try tables.records(selection) }
    }

    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let now = now()
        return try await change(selection, in: [.dead]) { tables, references throws(Database.Failure) in
            try tables.replay(references, now: now)
        }
    }

    package func store(_ records: [OutboxRecord], alsoFor path: String) async throws(ConnectorError) {
        let (events, now) = (records.map(\.event), now())
        try await perform { tables throws(Database.Failure) in try tables.store(events, alsoFor: path, now: now) }
    }

    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let droppable: Set<OutboxRecord.State> = [.queued, .dead]
        let states = selection.states?.intersection(droppable) ?? droppable
        return try await change(selection, in: states) { tables, references throws(Database.Failure) in
            try tables.drop(references, in: states)
        }
    }

    package func reassign(_ path: String, to other: String) async throws(ConnectorError) -> Bool {
        try await perform { tables throws(Database.Failure) in try tables.rename(path, to: other) }
    }

    /// Changes every event in a selection, some per transaction, so that other callers do not wait for all of them, and the log of a small
    /// volume stays short.
    ///
    /// - Returns: The number of changed events.
    private func change(
        _ selection: RecordSelection,
        in states: Set<OutboxRecord.State>,
        _ body:
            @escaping @Sendable (OutboxTables, ArraySlice<OutboxTables.EventReference>) throws(Database.Failure) -> Int
    ) async throws(ConnectorError) -> Int {
        var selection = selection
        selection.states = selection.states?.intersection(states) ?? states
        let restricted = selection
        let references = try await query { tables throws(Database.Failure) in try tables.references(restricted) }
        var count = 0
        var rest = references[...]
        while !rest.isEmpty {
            var bytes: Int64 = 0
            let fitting = rest.prefix(1000).prefix { reference in
                bytes += reference.bytes + 500
                return bytes <= 256 << 10
            }
            let slice = rest.prefix(max(1, fitting.count))
            rest = rest.dropFirst(slice.count)
            count += try await perform { tables throws(Database.Failure) in try body(tables, slice) }
        }
        return count
    }

    package func version() async throws(ConnectorError) -> Int64 {
        try await query { tables throws(Database.Failure) in try tables.readingRevision().version }
    }

    package func close() async {
        batchWatch.close()
        await readers?.reports.close()
        // It closes the connection of the deliveries, too: a reading may take until its watch interrupts it, which must not hold the caller.
        await writer.close()
    }

    /// Reads in a transaction that neither locks the file nor waits for a lock.
    func query<Value: Sendable>(
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(ConnectorError) -> Value {
        guard let reader = readers?.reports else { return try await perform(isStable: false, body) }
        do throws(Database.Failure) {
            do throws(Database.Failure) {
                return try await reader.perform(body)
            } catch {
                try await repair(after: error)
                return try await reader.perform(body)
            }
        } catch {
            throw Self.error(error, filePath)
        }
    }

    /// Lets the writer put a missing file back, open one that has replaced it, or replace a damaged one, so that it can be read again.
    ///
    /// - Throws: The failure, if the file is none of these.
    private func repair(after failure: Database.Failure) async throws(Database.Failure) {
        guard failure.isDamage || failure.isMoved || !Self.isPresent(filePath) else { throw failure }
        try await writer.perform(isStable: false) { tables throws(Database.Failure) in
            if failure.isDamage, tables.database.file == failure.file { throw failure }
        }
    }

    /// Opens a file to read it.
    ///
    /// - Parameter written: The only file to open; nil for any.
    static func reading(
        _ path: String,
        _ watch: StatementWatch,
        _ revisions: StoreRevisions,
        of written: WrittenFile? = nil
    ) -> @Sendable () throws(Database.Failure) -> OutboxTables {
        { () throws(Database.Failure) in
            try checkKind(path)
            if let written, Database.Place(path) != written.place { throw Database.Failure.moved }
            try checkLog(path)
            return try OutboxTables(reading: path, watch: watch, revisions: revisions)
        }
    }

    func perform<Value: Sendable>(
        isStable: Bool = true,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(ConnectorError) -> Value {
        do throws(Database.Failure) {
            return try await writer.perform(isStable: isStable, body)
        } catch {
            throw failed(error)
        }
    }

    /// The error of work of the writer that has failed; notes that the file could not be written.
    private func failed(_ failure: Database.Failure) -> ConnectorError {
        if failure.code != 0 { isSuspect.store(true, ordering: .relaxed) }
        return Self.error(failure, filePath)
    }

    private static func error(
        _ failure: Database.Failure,
        _ path: String,
        isOpening: Bool = false
    ) -> ConnectorError {
        guard !failure.isConflict else {
            return ConnectorError(.conflict, failure.description, fix: failure.advice)
        }
        return ConnectorError(
            .storage,
            "the outbox cannot be used: \(failure.description)",
            fix: failure.fix(path, isOpening: isOpening),
            cause: failure.cause.map { "\(path): \($0)" } ?? path,
            isRetryable: true
        )
    }
}
