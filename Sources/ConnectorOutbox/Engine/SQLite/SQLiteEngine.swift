// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
package import ConnectorManifest
internal import ConnectorPlatform
internal import Synchronization

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's function, apart from the method of the same name.
private let closeDescriptor: @Sendable (Int32) -> Int32 = { close($0) }

/// Opens a directory, to lock it.
private let openDescriptor: @Sendable (String) -> Int32 = { unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

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
        return try await perform { tables throws(Database.Failure) in try tables.replay(selection, now: now) }
    }

    package func drop(_ selection: RecordSelection) async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in try tables.drop(selection) }
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

    // MARK: Files

    /// Whether a directory has an outbox's file.
    package static func isStored(in directory: String) -> Bool { unsafe access("\(directory)/\(fileName)", F_OK) == 0 }

    /// Opens a file while no other process does: SQLite makes a new file in steps, and who comes between them is turned
    /// away at once, without its usual wait.
    private static func openAlone(_ path: String, in directory: String) throws(Database.Failure) -> OutboxTables {
        let descriptor = openDescriptor(directory)
        defer { if descriptor >= 0 { _ = closeDescriptor(descriptor) } }
        while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try OutboxTables(path)
    }

    /// Makes the directory, or checks that it is this user's alone.
    private static func prepare(_ directory: String) throws(ConnectorError) {
        for slash in directory.indices.dropFirst() where directory[slash] == "/" {
            _ = unsafe mkdir(String(directory[..<slash]), 0o700)
        }
        if unsafe mkdir(directory, 0o700) == 0 { return }
        let reason = SystemError()
        var status = stat()
        guard unsafe lstat(directory, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            throw ConnectorError(
                .storage,
                "the outbox has no directory: \(directory): \(reason)",
                fix: "make the directory above it, or name another one as \"state\""
            )
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw ConnectorError(
                .storage,
                "the directory of the outbox is open to other users: \(directory)",
                fix: "run: chmod 700 \(directory)"
            )
        }
    }

    /// Makes the file, readable by this user alone: SQLite would leave that to the umask, and gives its other files the
    /// same mode. A failure shows when the file is opened.
    private static func touch(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { _ = closeDescriptor(descriptor) }
    }

    /// Renames a damaged file and what belongs to it, so that nothing of it is lost.
    private static func setAside(_ path: String, _ now: Timestamp) throws(Database.Failure) -> String {
        let aside = aside(path, "damaged", now)
        for suffix in ["-wal", "-shm", ""] {
            guard unsafe rename(path + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw Database.Failure(code: 0, description: "the damaged file cannot be set aside: \(SystemError())")
        }
        return aside
    }

    /// Writes what is in a file anew that was removed while it was open.
    ///
    /// - Returns: Where it is, if another file has its name by now.
    private static func restore(
        _ path: String,
        from tables: OutboxTables,
        _ now: Timestamp
    ) throws(Database.Failure) -> String? {
        let copy = aside(path, "kept", now)
        try tables.copy(to: copy)
        let descriptor = unsafe open(copy, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0, fchmod(descriptor, 0o600) == 0, fsync(descriptor) == 0 else {
            throw Database.Failure(
                code: SQLITE_IOERR,
                description: "the outbox cannot be written anew: \(SystemError())"
            )
        }
        _ = closeDescriptor(descriptor)
        // A link fails where a renaming would replace what another process has begun.
        guard unsafe link(copy, path) == 0 else { return copy }
        unsafe unlink(copy)
        return nil
    }

    private static func aside(_ path: String, _ word: String, _ now: Timestamp) -> String {
        "\(path).\(word)-\("\(now)".replacing(":", with: ""))"
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
