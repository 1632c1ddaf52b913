// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

/// Keeps events in an SQLite file in a directory of this user alone.
///
/// Events are stable once the write-ahead log is on the disk (`synchronous=FULL`): neither a crash of the process nor a
/// loss of power loses them, as long as the disk keeps what it has confirmed. Callers that come together share one
/// synchronisation. What became of an event is written at once, and synchronised with the next new event. Several processes may use one file.
package final class SQLiteEngine: OutboxEngine {
    private let thread: SQLiteThread
    private let now: @Sendable () -> Timestamp
    private let path: String
    private let turns = Turns()

    /// Numbers the steps, on the thread, in the order in which they are done, and the files that were opened.
    private final class Turns: Sendable {
        private let last = Atomic<UInt64>(0)
        private let openings = Atomic<Int64>(0)

        func next() -> UInt64 { last.wrappingAdd(1, ordering: .relaxed).newValue }

        /// How many files were opened so far.
        var files: Int64 { openings.load(ordering: .relaxed) }

        func opened() { openings.wrappingAdd(1, ordering: .relaxed) }
    }

    package let stability: String

    /// The name of the file in its directory.
    package static let fileName = "outbox.sqlite"

    /// Keeps events in memory alone, for tests.
    package init(now: @escaping @Sendable () -> Timestamp) async throws(ConnectorError) {
        path = ":memory:"
        stability = "memory; the end of the process loses everything"
        self.now = now
        let open: @Sendable () throws(Database.Failure) -> OutboxTables = { () throws(Database.Failure) in
            try OutboxTables(":memory:")
        }
        do throws(Database.Failure) {
            thread = try await SQLiteThread(open: open) { failure throws(Database.Failure) in
                throw failure
            } restore: { _ in
            }
        } catch {
            throw Self.error(error, path)
        }
    }

    /// Opens the file in a directory, and makes both if need be.
    ///
    /// - Parameters:
    ///   - directory: Where the file lies; belongs to this user, with mode 0700.
    ///   - now: The time of day.
    ///   - onDamage: Called with the new path of a file that was set aside because it is damaged, and SQLite's words.
    /// - Throws: `storage` if the directory or the file cannot be used.
    package init(
        directory: String,
        now: @escaping @Sendable () -> Timestamp,
        onDamage: @escaping @Sendable (_ setAside: String, _ reason: String) -> Void
    ) async throws(ConnectorError) {
        try Self.prepare(directory)
        stability = "SQLite, synchronised to the disk of this machine; survives a crash and a loss of power"
        let path = "\(directory)/\(Self.fileName)"
        self.path = path
        self.now = now
        do throws(Database.Failure) {
            thread = try await SQLiteThread { [turns] () throws(Database.Failure) in
                turns.opened()
                Self.touch(path)
                return try Self.openAlone(path, in: directory)
            } setAside: { failure throws(Database.Failure) in
                onDamage(try Self.setAside(path, now()), failure.description)
            } restore: { tables throws(Database.Failure) in
                try? Self.prepare(directory)
                guard let aside = try Self.restore(path, from: tables, now()) else { return }
                onDamage(aside, "another file was put in its place")
            }
        } catch {
            throw Self.error(error, path)
        }
    }

    package func append(_ events: [OutboxEvent], to targets: [String]) async throws(ConnectorError) -> OutboxStep {
        try await perform { [turns] tables throws(Database.Failure) in
            OutboxStep(turn: turns.next(), isApplied: try tables.append(events, to: targets))
        }
    }

    package func batch(
        for target: String,
        upTo limits: BatchLimits,
        now: Timestamp
    ) async throws(ConnectorError) -> OutboxBatch {
        try await perform(isStable: false) { tables throws(Database.Failure) in
            try tables.batch(for: target, upTo: limits, now: now)
        }
    }

    /// What a loss of power undoes of it is delivered once more, with the same ids.
    @discardableResult
    package func settle(
        _ batch: OutboxBatch,
        _ fates: [Fate],
        _ attempt: Attempt
    ) async throws(ConnectorError) -> OutboxStep {
        try await perform(isStable: false) { [turns] tables throws(Database.Failure) in
            OutboxStep(turn: turns.next(), isApplied: try tables.settle(batch, fates, attempt))
        }
    }

    package func rewind(_ target: String, now: Timestamp) async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in try tables.rewind(target, now: now) }
    }

    package func dropOldest(_ bytes: Int, of target: String) async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in try tables.dropOldest(bytes, of: target) }
    }

    package func countDropped(_ count: Int, of target: String) async throws(ConnectorError) -> UInt64 {
        try await perform(isStable: false) { [turns] tables throws(Database.Failure) in
            try tables.countDropped(count, of: target)
            return turns.next()
        }
    }

    package func read() async throws(ConnectorError) -> OutboxReading {
        try await perform(isStable: false) { [turns] tables throws(Database.Failure) in
            OutboxReading(turn: turns.next(), standings: try tables.standings())
        }
    }

    package func records(_ selection: RecordSelection) async throws(ConnectorError) -> [OutboxRecord] {
        try await perform(isStable: false) { tables throws(Database.Failure) in try tables.records(selection) }
    }

    package func replay(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        let now = now()
        return try await change(selection, in: [.dead]) { tables, places throws(Database.Failure) in
            try tables.replay(places, now: now)
        }
    }

    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await change(selection, in: [.queued, .dead]) { tables, places throws(Database.Failure) in
            try tables.drop(places)
        }
    }

    /// Does something to every event that a selection means, to a thousand in each transaction: nobody waits for all of them,
    /// and they need not fit into memory.
    ///
    /// - Returns: How many it was done to.
    private func change(
        _ selection: RecordSelection,
        in states: Set<OutboxRecord.State>,
        _ body: @escaping @Sendable (OutboxTables, ArraySlice<OutboxTables.Place>) throws(Database.Failure) -> Int
    ) async throws(ConnectorError) -> Int {
        var selection = selection
        selection.states = selection.states?.intersection(states) ?? states
        let meant = selection
        let places = try await perform(isStable: false) { tables throws(Database.Failure) in try tables.places(meant) }
        var count = 0
        for start in stride(from: 0, to: places.count, by: 1000) {
            let slice = places[start..<min(start + 1000, places.count)]
            count += try await perform { tables throws(Database.Failure) in try body(tables, slice) }
        }
        return count
    }

    package func version() async throws(ConnectorError) -> Int64 {
        try await perform(isStable: false) { [turns] tables throws(Database.Failure) in
            // SQLite counts for each file that is opened anew.
            (try tables.statement("PRAGMA data_version").integer() ?? 0) | turns.files << 32
        }
    }

    package func close() async {
        await thread.close()
    }

    fileprivate func perform<Value: Sendable>(
        isStable: Bool = true,
        _ body: @escaping @Sendable (OutboxTables) throws(Database.Failure) -> Value
    ) async throws(ConnectorError) -> Value {
        do throws(Database.Failure) {
            return try await thread.perform(isStable: isStable, body)
        } catch {
            throw Self.error(error, path)
        }
    }

    private static func error(_ failure: Database.Failure, _ path: String) -> ConnectorError {
        ConnectorError(
            .storage,
            "the outbox cannot be used: \(failure.description)",
            fix: failure.fix(path),
            cause: path,
            isRetryable: true
        )
    }
}

extension SQLiteEngine {
    /// Limits the size of the file; tests fill a disk with it.
    func limit(pages: Int) async throws(ConnectorError) {
        try await perform { tables throws(Database.Failure) in
            try tables.database.run("PRAGMA max_page_count = \(pages)")
        }
    }

    /// The size of the file.
    func pages() async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in
            Int(try tables.statement("PRAGMA page_count").integer() ?? 0)
        }
    }

    /// How many steps of SQLite's virtual machine everything took so far; tests compare costs by it.
    func steps() async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in tables.steps }
    }
}
