// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's function, apart from the method of the same name.
private let closeDescriptor: @Sendable (Int32) -> Int32 = { close($0) }

/// Keeps events in an SQLite file in a directory of this user alone.
///
/// Events are stable once the write-ahead log is on the disk (`synchronous=FULL`): neither a crash of the process nor a
/// loss of power loses them, as long as the disk keeps what it has confirmed. Callers that come together share one
/// synchronisation. What became of an event is written at once, and synchronised with the next new event. Several processes may use one file.
package final class SQLiteEngine: OutboxEngine {
    private let thread: SQLiteThread
    private let now: @Sendable () -> Timestamp
    private let path: String

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
            thread = try await SQLiteThread(open: open) { failure throws(Database.Failure) in throw failure }
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
        Self.touch(path)
        self.path = path
        self.now = now
        let replace: @Sendable (Database.Failure) throws(Database.Failure) -> OutboxTables = {
            failure throws(Database.Failure) in
            let aside = try Self.setAside(path, now())
            Self.touch(path)
            onDamage(aside, failure.description)
            return try OutboxTables(path)
        }
        do throws(Database.Failure) {
            thread = try await SQLiteThread {
                () throws(Database.Failure) in
                do throws(Database.Failure) {
                    return try OutboxTables(path)
                } catch {
                    guard error.isDamage else { throw error }
                    return try replace(error)
                }
            } replace: { failure throws(Database.Failure) in
                try replace(failure)
            }
        } catch {
            throw Self.error(error, path)
        }
    }

    package func append(_ events: [OutboxEvent], to targets: [String]) async throws(ConnectorError) -> [Bool] {
        try await perform { tables throws(Database.Failure) in try tables.append(events, to: targets) }
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
    package func settle(_ batch: OutboxBatch, _ fates: [Fate], _ attempt: Attempt) async throws(ConnectorError) {
        try await perform(isStable: false) { tables throws(Database.Failure) in try tables.settle(batch, fates, attempt)
        }
    }

    package func dropOldest(_ bytes: Int, of target: String) async throws(ConnectorError) -> Int {
        try await perform { tables throws(Database.Failure) in try tables.dropOldest(bytes, of: target) }
    }

    package func standings() async throws(ConnectorError) -> [String: Standing] {
        try await perform(isStable: false) { tables throws(Database.Failure) in try tables.standings() }
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
        try await perform(isStable: false) { tables throws(Database.Failure) in
            try tables.statement("PRAGMA data_version").integer() ?? 0
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
        let time = "\(now)".replacing(":", with: "")
        let aside = "\(path).damaged-\(time)"
        for suffix in ["-wal", "-shm", ""] {
            guard unsafe rename(path + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw Database.Failure(code: 0, description: "the damaged file cannot be set aside: \(SystemError())")
        }
        return aside
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
}
