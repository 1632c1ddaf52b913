// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest
import Synchronization
import Testing

@testable import ConnectorOutbox
@testable import ConnectorOutboxSQLite

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What happens to stored events when the file is damaged, removed or replaced while it is open.
@Suite(.timeLimit(.minutes(5))) struct FileFaultTests {
    private let folder: Folder
    private let aside = Aside()
    private var path: String { "\(folder.path)/outbox.sqlite" }

    init() throws {
        folder = try Folder()
    }

    /// Writes the file as an earlier version did.
    private func file(ofVersion version: Int, _ rows: String) throws(Database.Failure) {
        let database = try Database(path)
        let steps = Schema.steps.prefix(version).joined(separator: " ")
        try database.run("BEGIN; \(steps) PRAGMA user_version = \(version); COMMIT")
        try database.run(rows)
    }

    private func engine() async throws(ConnectorError) -> SQLiteEngine {
        try await SQLiteEngine(directory: folder.path, now: { OutboxEvent.start }) { [aside] in aside.add($0, $1) }
    }

    private func ids(_ engine: SQLiteEngine) async throws -> [String] {
        try await engine.records(RecordSelection()).map(\.event.id)
    }

    private func bytes(_ path: String) -> [UInt8] {
        let descriptor = unsafe open(path, O_RDONLY)
        defer { close(descriptor) }
        return unsafe [UInt8](unsafeUninitializedCapacity: 10_000_000) { buffer, count in
            count = max(0, unsafe read(descriptor, buffer.baseAddress, buffer.count))
        }
    }

    private func write(_ bytes: some Collection<UInt8>, to path: String, at offset: Int = 0) {
        let descriptor = unsafe open(path, O_WRONLY | O_CREAT, 0o600)
        let bytes = Array(bytes)
        #expect(unsafe pwrite(descriptor, bytes, bytes.count, off_t(offset)) == bytes.count)
        close(descriptor)
    }

    @Test func `events stored after damage survive, even if other processes still have the damaged file open`()
        async throws
    {
        let first = try await engine()
        for number in 1...2000 { _ = try await first.append([.numbered(number, bytes: 2000)], to: ["a"]) }
        let beside = try await engine()
        #expect(try await beside.statistics()["a"]?.queued == 2000)
        write([UInt8](repeating: 0xA5, count: bytes(path).count - 4096), to: path, at: 4096)
        // Reads pages that are no longer in SQLite's memory.
        let salvaged = try await ids(first)
        #expect(salvaged.count < 2000, "the log holds only the last ones")
        #expect(try await first.append([.numbered(5001)], to: ["a"]).isApplied == [true])
        #expect(try await beside.append([.numbered(5002)], to: ["a"]).isApplied == [true])
        // A process that has the damaged file open ends: it must not take the new file's log with it.
        await beside.close()
        #expect(folder.names.contains("outbox.sqlite-wal"))
        let after = try await engine()
        #expect(Set(try await ids(after)) == Set(salvaged + ["event-5001", "event-5002"]))
        await after.close()
        await first.close()
        // Whichever process tells of it says where it is.
        #expect(Set(aside.paths).count == 1 && aside.losses.isEmpty, "\(aside.paths) \(aside.losses)")
    }

    @Test(arguments: [false, true])
    func `events outlive the file and its directory`(isWithDirectory: Bool) async throws {
        let engine = try await engine()
        _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a", "b"])
        let batch = try await engine.batch(for: "b", upTo: BatchLimits(count: 1), now: OutboxEvent.start)
        try await engine.settle(
            batch,
            [.dead],
            Attempt(at: OutboxEvent.start, failures: [DeliveryFailure(.invalid, "no")])
        )
        for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        if isWithDirectory { unsafe rmdir(folder.path) }
        _ = try await engine.append([.numbered(3)], to: ["a"])
        let beside = try await self.engine()
        #expect(try await ids(beside).count == 6 - 1)
        #expect(try await beside.statistics()["a"]?.queued == 3)
        #expect(try await beside.statistics()["b"]?.dead == 1)
        _ = try await beside.append([.numbered(4)], to: ["a"])
        #expect(try await engine.statistics()["a"]?.queued == 4)
        await beside.close()
        await engine.close()
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(unsafe lstat(folder.path, &status) == 0 && status.st_mode & 0o777 == 0o700)
        #expect(!folder.names.contains { $0.contains("kept") })
    }

    @Test func `events outlive the loss of the file alone, and its log is not read into the file that replaces it`()
        async throws
    {
        let engine = try await engine()
        // More than stays in the log, and then some that are only in the log.
        for start in [1, 2001, 4001] {
            let events = (start..<start + 2000).map { OutboxEvent.numbered($0, bytes: 2000) }
            _ = try await engine.append(events, to: ["a"])
        }
        _ = try await engine.append([.numbered(6001)], to: ["a"])
        unsafe unlink(path)
        _ = try await engine.append([.numbered(6002)], to: ["a"])
        #expect(try await engine.statistics()["a"]?.queued == 6002)
        await engine.close()
        let next = try await self.engine()
        #expect(try await ids(next) == (1...6002).map { "event-\($0)" })
        await next.close()
        #expect(aside.paths.isEmpty)
    }

    @Test func `events outlive the loss of the log alone`() async throws {
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        #expect(unsafe unlink(path + "-wal") == 0)
        _ = try await engine.append([.numbered(2)], to: ["a"])
        // They are at the path, so that it does not matter how this process ends.
        let beside = try await self.engine()
        #expect(try await ids(beside) == ["event-1", "event-2"])
        await beside.close()
        #expect(unsafe unlink(path + "-wal") == 0)
        await engine.close()
        let next = try await self.engine()
        #expect(try await ids(next) == ["event-1", "event-2"])
        await next.close()
        #expect(aside.paths.isEmpty && !folder.names.contains { $0.contains("kept") })
    }

    @Test func `a removed file that cannot be read is reported as lost once, with its path`() async throws {
        let engine = try await engine()
        for start in [1, 2001, 4001] {
            let events = (start..<start + 2000).map { OutboxEvent.numbered($0, bytes: 2000) }
            _ = try await engine.append(events, to: ["a"])
        }
        write([UInt8](repeating: 0xA5, count: bytes(path).count - 4096), to: path, at: 4096)
        for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        for number in 6001...6002 { _ = try await engine.append([.numbered(number)], to: ["a"]) }
        #expect(try await ids(engine) == ["event-6001", "event-6002"])
        await engine.close()
        #expect(aside.losses.count == 1 && aside.losses.first?.contains(path) == true, "\(aside.losses)")
        #expect(aside.paths.isEmpty)
    }

    @Test(arguments: [0o644, 0o400] as [mode_t])
    func `a file that was put back is for this user alone to read and write once it is open`(mode: mode_t) async throws
    {
        try await folder.fill()
        #expect(unsafe chmod(path, mode) == 0)
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        #expect(unsafe lstat(path + "-wal", &status) == 0 && status.st_mode & 0o777 == 0o600)
        await engine.close()
    }

    /// A file that not even root can open for writing.
    private static let readOnlyFile = "/sys/kernel/notes"

    @Test(.enabled(if: unsafe access(readOnlyFile, R_OK) == 0))
    func `a file that opens only for reading has no connection that writes, so that the next attempt opens it again`()
        throws
    {
        let failure = try #require(throws: Database.Failure.self) { try Database(Self.readOnlyFile) }
        // SQLITE_READONLY
        #expect(failure.code == 8, "\(failure.description)")
        _ = try Database(Self.readOnlyFile, .reading)
    }

    /// SQLITE_IOERR_SHMSIZE, SQLITE_IOERR_SHORT_READ, and SQLITE_IOERR itself.
    @Test(arguments: [(4874, "the disk is full"), (522, "the file is damaged"), (10, "the disk reported an error")])
    func `what SQLite calls an error of the disk may be another fault`(code: Int, words: String) {
        #expect(Database.Failure(code: Int32(code), cause: "a test").description == words)
    }

    /// SQLITE_CANTOPEN, SQLITE_READONLY, SQLITE_IOERR_WRITE and SQLITE_IOERR_SHMSIZE, with the number of the system's error.
    @Test(arguments: [
        (14, EMFILE, "this process has too many files open"), (14, ENFILE, "too many files are open on this machine"),
        (14, EACCES, "the file cannot be opened"), (14, ENOSPC, "the disk is full"),
        (14, EROFS, "the file system is read-only"), (8, EROFS, "the file system is read-only"),
        (778, EROFS, "the file system is read-only"), (778, EFBIG, "the file is as large as this process may write"),
        (778, EDQUOT, "the disk is full"), (778, EIO, "the disk reported an error"),
        (4874, EIO, "the disk reported an error"), (4874, ENOSPC, "the disk is full"),
    ])
    func `an error of the file says what the system refused`(code: Int, number: Int32, words: String) {
        #expect(Database.Failure(code: Int32(code), cause: "a test", number: number).description == words)
    }

    #if os(Linux)
        /// In a process of its own, whose files may have so many bytes: too few for the file, for the index of its log, or for the log.
        @Test func `a limit of the size of files is named, whichever file reaches it`() async {
            await #expect(processExitsWith: .success) {
                signal(SIGXFSZ, SIG_IGN)
                let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
                var usual = rlimit()
                try #require(unsafe getrlimit(resource, &usual) == 0)
                for size in [4096, 20_000, 60_000] as [rlim_t] {
                    let folder = try Folder()
                    var limit = usual
                    limit.rlim_cur = size
                    try #require(unsafe setrlimit(resource, &limit) == 0)
                    let failure = #expect(throws: Database.Failure.self) {
                        let database = try Database("\(folder.path)/outbox.sqlite")
                        try database.run("PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; CREATE TABLE t (x)")
                        try database.run("BEGIN; INSERT INTO t VALUES (zeroblob(100000)); COMMIT")
                    }
                    try #require(unsafe setrlimit(resource, &usual) == 0)
                    #expect(failure?.description == "the file is as large as this process may write", "\(size)")
                }
            }
        }
    #endif

    @Test func `what the system refuses beside a file is asked of it by creating one, which is gone afterwards`()
        throws
    {
        // One that a killed process has left.
        write([UInt8](), to: "\(path).probe")
        #expect(Database.refusal(of: .writing, beside: path) == nil)
        #expect(Database.refusal(of: .writing, beside: path) == nil)
        #expect(folder.names.isEmpty)
        #expect(Database.refusal(of: .writing, beside: "\(folder.path)/none/outbox.sqlite") == ENOENT)
        #expect(Database.refusal(of: .reading, beside: "\(folder.path)/none/outbox.sqlite") == ENOENT)
    }

    /// SQLITE_READONLY, SQLITE_INTERRUPT, SQLITE_IOERR and SQLITE_FULL.
    @Test(arguments: [8, 9, 10, 13] as [Int32])
    func `a removed file stays open until its events are back, whatever keeps them from it`(code: Int32) async throws {
        let path = path
        let failures = Mutex(2)
        let (watch, revisions) = (StatementWatch(), StoreRevisions())
        let file = SQLiteThread.File(
            open: { () throws(Database.Failure) in try OutboxTables(path, watch: watch, revisions: revisions) },
            recover: { failure, _ throws(Database.Failure) in throw failure },
            restore: { tables throws(Database.Failure) in
                let isHindered = failures.withLock { left in
                    left -= 1
                    return left >= 0
                }
                guard !isHindered else { throw Database.Failure(code: code, cause: "a test") }
                _ = try SQLiteEngine.restore(path, from: tables, OutboxEvent.start)
            }
        )
        let thread = try await SQLiteThread(watch: watch, file)
        func append(_ number: Int) async throws(Database.Failure) {
            _ = try await thread.perform(isStable: true) { tables throws(Database.Failure) in
                try tables.append([.numbered(number)], to: ["a"])
            }
        }
        try await append(1)
        unsafe unlink(path)
        for number in 2...3 {
            let failure = await #expect(throws: Database.Failure.self) { try await append(number) }
            #expect(failure?.code == code)
        }
        try await append(4)
        await thread.close()
        let engine = try await engine()
        #expect(try await ids(engine) == ["event-1", "event-4"])
        await engine.close()
    }

    @Test func `a directory that cannot be used is an error that says why`() async throws {
        let link = "\(folder.path)/link"
        #expect(unsafe symlink("none", link) == 0)
        func failure(_ directory: String) async -> ConnectorError? {
            await #expect(throws: ConnectorError.self) {
                try await SQLiteEngine(directory: directory, now: { OutboxEvent.start }, onDamage: { _, _ in })
            }
        }
        #expect(await failure(link)?.message.contains("symbolic link") == true)
        let other = "\(folder.path)/other"
        #expect(unsafe mkdir(other, 0o755) == 0)
        #expect(await failure(other)?.fix == "run: chmod 700 \(other)")
        guard geteuid() == 0 else { return }
        #expect(unsafe chmod(other, 0o700) == 0 && chown(other, 65_534, 65_534) == 0)
        #expect(await failure(other)?.message.contains("another user (65534)") == true)
        let given = "\(folder.path)/given"
        #expect(unsafe symlink(folder.path, given) == 0 && lchown(given, 65_534, 65_534) == 0)
        #expect(await failure(given)?.message.contains("symbolic link") == true)
    }

    /// The link leads to the directory of the outbox, or to the one above it.
    @Test(arguments: [false, true])
    func `a symbolic link on the way to the file does not matter, whatever becomes of the file`(
        isAbove: Bool
    ) async throws {
        let real = try Folder()
        let (link, target) = ("\(folder.path)/link", isAbove ? "/tmp" : real.path)
        try #require(unsafe symlink(target, link) == 0)
        let directory = isAbove ? link + String(real.path.dropFirst("/tmp".count)) : link
        func opened() async throws(ConnectorError) -> SQLiteEngine {
            try await SQLiteEngine(directory: directory, now: { OutboxEvent.start }) { [aside] in aside.add($0, $1) }
        }
        let first = try await opened()
        _ = try await first.append([.numbered(1)], to: ["a"])
        let batch = try await first.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.id) == ["event-1"])
        for name in real.names { unsafe unlink("\(real.path)/\(name)") }
        _ = try await first.append([.numbered(2)], to: ["a"])
        #expect(real.names.contains("outbox.sqlite") && !real.names.contains { $0.contains("kept") })
        await first.close()
        #expect(await SQLiteEngine.waitingCounts(in: directory) == ["a": 2])
        let next = try await opened()
        #expect(try await ids(next) == ["event-1", "event-2"])
        await next.close()
        #expect(aside.paths.isEmpty && aside.losses.isEmpty)
    }

    @Test func `events move along when a symbolic link on the way is made to lead elsewhere`() async throws {
        let (before, after) = try (Folder(), Folder())
        let link = "\(folder.path)/link"
        try #require(unsafe symlink(before.path, link) == 0)
        let engine = try await SQLiteEngine(
            directory: link,
            now: { OutboxEvent.start },
            onDamage: { [aside] in aside.add($0, $1) }
        )
        _ = try await engine.append([.numbered(1)], to: ["a"])
        try #require(unsafe unlink(link) == 0 && symlink(after.path, link) == 0)
        _ = try await engine.append([.numbered(2)], to: ["a"])
        #expect(after.names.contains("outbox.sqlite"))
        #expect(try await ids(engine) == ["event-1", "event-2"])
        await engine.close()
        #expect(aside.paths.isEmpty && aside.losses.isEmpty)
    }

    @Test func `a file that replaces another is used, and what the replaced one held is kept`() async throws {
        let first = try await engine()
        _ = try await first.append([.numbered(1)], to: ["a"])
        for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
        let second = try await engine()
        _ = try await second.append([.numbered(2)], to: ["a"])
        _ = try await first.append([.numbered(3)], to: ["a"])
        #expect(try await ids(second) == ["event-2", "event-3"])
        let kept = try #require(aside.paths.first)
        let database = try Database(kept)
        #expect(try database.statement("SELECT count(*) FROM events WHERE id = 'event-1'").integer() == 1)
        await first.close()
        await second.close()
    }

    @Test(arguments: [true, false])
    func `a file renamed into the place of an open one keeps its events, though the log of the other is there`(
        isRead: Bool
    ) async throws {
        let other = try Folder()
        let source = try await other.engine()
        _ = try await source.append((101...120).map { .numbered($0) }, to: ["a"])
        await source.close()
        let engine = try await engine()
        _ = try await engine.append([.numbered(1), .numbered(2)], to: ["a"])
        #expect(try await ids(engine) == ["event-1", "event-2"])
        try #require(unsafe rename(other.file, path) == 0)
        try #require(folder.names.contains("outbox.sqlite-wal"))
        let numbers = Array(101...120)
        if isRead {
            #expect(try await ids(engine) == numbers.map { "event-\($0)" })
            #expect(try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start).entries.count == 20)
        }
        _ = try await engine.append([.numbered(3)], to: ["a"])
        #expect(try await ids(engine) == (numbers + [3]).map { "event-\($0)" })
        await engine.close()
        let kept = try #require(aside.paths.first)
        let database = try Database(kept)
        #expect(try database.statement("SELECT count(*) FROM events").integer() == 2)
        #expect(aside.all.count == 1)
        let next = try await self.engine()
        #expect(try await next.statistics()["a"]?.queued == 21)
        await next.close()
    }

    @Test(arguments: [true, false])
    func `the index of the log is made again if it is removed, so that other processes share it`(
        isRead: Bool
    ) async throws {
        let engine = try await engine()
        _ = try await engine.append([.numbered(1)], to: ["a"])
        #expect(try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start).entries.count == 1)
        #expect(try await ids(engine) == ["event-1"])
        try #require(unsafe unlink(path + "-shm") == 0)
        if isRead {
            #expect(try await ids(engine) == ["event-1"])
        } else {
            _ = try await engine.append([.numbered(2)], to: ["a"])
        }
        #expect(folder.names.contains("outbox.sqlite-shm"))
        _ = try await engine.append([.numbered(3)], to: ["a"])
        #expect(try await ids(engine) == (isRead ? [1, 3] : [1, 2, 3]).map { "event-\($0)" })
        await engine.close()
        #expect(aside.all.isEmpty && !folder.names.contains { $0.contains("kept") })
    }

    @Test func `a file that closes without the index of its log leaves the log to others`() async throws {
        do {
            let tables = try OutboxTables(path)
            try tables.transaction(isStable: true) { tables throws(Database.Failure) in
                _ = try tables.append([.numbered(1)], to: ["a"])
            }
            try #require(unsafe unlink(path + "-shm") == 0)
            withExtendedLifetime(tables) {}
        }
        #expect(folder.names.contains("outbox.sqlite-wal"))
        let engine = try await engine()
        #expect(try await ids(engine) == ["event-1"])
        await engine.close()
    }

    /// Sizes in bytes, and the text that stands there instead of the log.
    @Test(arguments: [0, 32, 4000, 12000], ["", "no log "])
    func `a log that is cut short while hosts use it stops neither of them`(_ size: Int, _ text: String) async throws {
        let first = try await engine()
        for number in 1...20 { _ = try await first.append([.numbered(number)], to: ["a"]) }
        let beside = try await engine()
        let garbage = Array(String(repeating: text, count: size).utf8.prefix(size))
        unsafe truncate("\(path)-wal", off_t(size))
        if !garbage.isEmpty { write(garbage, to: "\(path)-wal") }
        for (number, engine) in [(21, beside), (22, first)] {
            _ = try await engine.append([.numbered(number)], to: ["a"])
            #expect(try await ids(engine).contains("event-\(number)"))
        }
        await beside.close()
        await first.close()
    }

    @Test func `a log that ends within a record loses only that record`() async throws {
        let engine = try await engine()
        var sizes: [Int] = []
        for number in 1...20 {
            _ = try await engine.append([.numbered(number, bytes: 500)], to: ["a"])
            sizes.append(bytes(path + "-wal").count)
        }
        let (file, log) = (bytes(path), bytes(path + "-wal"))
        await engine.close()
        for length in [log.count - 1, log.count - 4000, sizes[9] + 100, sizes[4] - 30, sizes[0]] {
            for name in folder.names { unsafe unlink("\(folder.path)/\(name)") }
            write(file, to: path)
            write(log[..<length], to: path + "-wal")
            let torn = try await self.engine()
            let whole = sizes.prefix { $0 <= length }.count
            #expect(try await ids(torn) == (0..<whole).map { "event-\($0 + 1)" })
            _ = try await torn.append([.numbered(100)], to: ["a"])
            #expect(try await torn.statistics()["a"]?.queued == whole + 1)
            await torn.close()
        }
        #expect(aside.paths.isEmpty)
    }

    @Test func `a file of the first version is migrated to the current one with its contents`() async throws {
        try file(
            ofVersion: 1,
            """
            INSERT INTO routes VALUES(1, '["a"]', 1, 2, 1 << 40); INSERT INTO targets(path) VALUES('a');
            INSERT INTO cursors VALUES(1, 1, 1 << 40 | 1, 1, 2);
            INSERT INTO events VALUES(1 << 40 | 1, 'event-1', 'analytics/1 track', 0, '{}');
            INSERT INTO retries VALUES(1, 1 << 40 | 1, 0, 3); UPDATE counters SET value = 2;
            """
        )
        let engine = try await engine()
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map(\.attempts) == [3])
        #expect(batch.entries.map(\.id) == ["event-1"])
        await engine.close()
    }

    @Test func `a file of the second version continues its numbering, also on separate routes`() async throws {
        try file(
            ofVersion: 2,
            """
            INSERT INTO routes VALUES(1, '["a"]', 1, 2, 1 << 40); INSERT INTO targets(path) VALUES('a');
            INSERT INTO cursors VALUES(1, 1, 1 << 40 | 6, 0, 0);
            INSERT INTO events VALUES(1 << 40 | 7, 'event-7', 'analytics/1 track', 0, '{}');
            UPDATE counters SET value = 8;
            """
        )
        let engine = try await engine()
        for (number, paths) in [(8, ["a", "b"]), (9, ["a"]), (10, ["c"])] {
            _ = try await engine.append([.numbered(number)], to: paths)
        }
        let batch = try await engine.batch(for: "a", upTo: BatchLimits(), now: OutboxEvent.start)
        #expect(batch.entries.map { $0.position & 0xFF } == [7, 8, 9])
        #expect(batch.entries.map(\.id) == ["event-7", "event-8", "event-9"])
        #expect(try await engine.statistics()["a"]?.queued == 3)
        await engine.close()
    }
}
