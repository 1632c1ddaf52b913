// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest
internal import Synchronization
internal import Testing

@testable internal import sqlite

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The adapter that keeps records in a file.
@Suite final class SQLiteTests {
    private let directory: String
    private var path: String { "\(directory)/records.db" }

    init() throws {
        var template = Array("/tmp/connector-sqlite-XXXXXX".utf8CString)
        directory = try unsafe String(cString: #require(mkdtemp(&template)))
    }

    deinit {
        for name in ["records.db", "records.db-wal", "records.db-shm", "link.db", "kept.db"] {
            if unsafe unlink("\(directory)/\(name)") != 0 { unsafe rmdir("\(directory)/\(name)") }
        }
        unsafe rmdir(directory)
    }

    private func sqlite(maxBytes: Int64 = 1 << 30, clock: any ClockService = StoppedClock()) throws -> SQLite {
        try SQLite(
            configuration: PluginConfiguration(["file": .string(path), "maxBytes": .integer(maxBytes)]),
            host: Host(clock: clock)
        )
    }

    /// An adapter whose file is open.
    func opened(maxBytes: Int64 = 1 << 30, clock: any ClockService = StoppedClock()) async throws -> SQLite {
        let sqlite = try sqlite(maxBytes: maxBytes, clock: clock)
        _ = try await sqlite.open()
        return sqlite
    }

    /// The error that something throws.
    func failure(_ body: () async throws -> Void) async -> PluginError? {
        await #expect(throws: PluginError.self) { try await body() }
    }

    private func write(_ text: String) throws {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        try #require(file >= 0)
        defer { close(file) }
        let bytes = Array(text.utf8)
        try #require(unsafe Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    /// A second connection to the file, as another process would have.
    private func connection() throws -> SQLiteConnection {
        try SQLiteConnection(path, maxBytes: 1 << 30, during: DiskCall(clock: StoppedClock(), on: "file"))
    }

    /// A record that changes twice has three versions, and the last is there after the file was closed.
    @Test func `records persist, and every change makes a new version`() async throws {
        var sqlite = try await opened()
        let made = try await sqlite.create(["name": "Ada", "age": 36], in: "people", id: "ada")
        let updated = try await sqlite.update(
            "ada",
            with: ["age": 37, "note": .null],
            in: "people",
            version: made.version
        )
        #expect(updated.data == ["name": "Ada", "age": 37, "note": .null])
        await sqlite.close()
        sqlite = try await opened()
        #expect(try await sqlite.get("ada", in: "people") == updated)
        try await sqlite.delete("ada", in: "people", version: updated.version)
        let again = try await sqlite.create(["name": "Ada"], in: "people", id: "ada")
        #expect(Set([made.version, updated.version, again.version]).count == 3)
        await sqlite.close()
    }

    @Test func `the file is for its owner alone`() async throws {
        let sqlite = try await opened()
        _ = try await sqlite.create(["a": 1], in: "c", id: nil)
        for name in ["records.db", "records.db-wal", "records.db-shm"] {
            var status = stat()
            #expect(unsafe lstat("\(directory)/\(name)", &status) == 0)
            #expect(status.st_mode & 0o777 == 0o600, "\(name)")
        }
        await sqlite.close()
    }

    @Test func `a full file refuses a change, and keeps what it has`() async throws {
        let sqlite = try await opened(maxBytes: 64 << 10)
        let made = try await sqlite.create(["a": 1], in: "c", id: "a")
        let large: JSONObject = ["a": .string(String(repeating: "x", count: 100_000))]
        let error = await failure { _ = try await sqlite.replace("a", with: large, in: "c", version: nil) }
        #expect(error?.status == .unavailable)
        #expect(error?.message.contains("free space on its disk, or raise maxBytes") == true, "\(error?.message ?? "")")
        #expect(try await sqlite.get("a", in: "c") == made)
        _ = try await sqlite.create(["b": 2], in: "c", id: "b")
        await sqlite.close()
    }

    @Test func `a file that is not a database stays as it is`() async throws {
        let text = String(repeating: "no database ", count: 100)
        try write(text)
        let error = await failure { _ = try await opened() }
        #expect(error?.status == .failed && error?.message.contains("no database of SQLite") == true)
        var status = stat()
        #expect(unsafe lstat(path, &status) == 0 && status.st_size == text.utf8.count)
    }

    @Test func `another application's file stays as it is`() async throws {
        try write("")
        let sqlite = try await opened()
        await sqlite.close()
        try connection().run("PRAGMA application_id = 7")
        let error = await failure { _ = try await opened() }
        #expect(error?.message.contains("another application's") == true)
    }

    @Test func `a file of a later version, or with another table, stays as it is`() async throws {
        let sqlite = try await opened()
        await sqlite.close()
        let other = try connection()
        try other.run("PRAGMA user_version = 9")
        #expect(await failure { _ = try await opened() }?.status == .unsupported)
        try other.run("PRAGMA user_version = 1; ALTER TABLE records ADD COLUMN more")
        #expect(await failure { _ = try await opened() }?.message.contains("the table is another") == true)
    }

    @Test func `a damaged record is an error of its own`() async throws {
        let sqlite = try await opened()
        let good = try await sqlite.create(["v": 1], in: "good", id: "a")
        _ = try await sqlite.create(["v": 1], in: "bad", id: "a")
        try connection().run("UPDATE records SET data = '{\"v\":' WHERE collection = 'bad'")
        #expect(await failure { _ = try await sqlite.get("a", in: "bad") }?.message.contains("damaged") == true)
        let query = DatabaseQuery([.init("v", .equal, 1)])
        #expect(await failure { _ = try await sqlite.query(query, in: "bad") }?.message.contains("damaged") == true)
        #expect(try await sqlite.query(query, in: "good").records == [good])
        await sqlite.close()
    }

    @Test(arguments: ["directory", "pipe", "link", "readable", "read-only"])
    func `what is not a private file is refused`(_ kind: String) async throws {
        switch kind {
        case "directory": try #require(unsafe mkdir(path, 0o700) == 0)
        case "pipe": try #require(unsafe mkfifo(path, 0o600) == 0)
        case "link": try #require(unsafe symlink("link.db", path) == 0)
        case "readable":
            try write("")
            try #require(unsafe chmod(path, 0o644) == 0)
        default:
            try write("")
            try #require(unsafe chmod(path, 0o400) == 0)
        }
        let error = await failure { _ = try await opened() }
        #expect([.invalid, .denied].contains(error?.status))
        #expect(error?.message.contains(path) == true)
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away")) func `another user's file is refused`()
        async throws
    {
        try write("")
        try #require(unsafe chown(path, 65_534, 65_534) == 0)
        let error = await failure { _ = try await opened() }
        #expect(error?.status == .denied && error?.message.contains("another user") == true)
    }

    @Test func `a directory that is missing, or that others may change, is refused`() async throws {
        try #require(unsafe chmod(directory, 0o777) == 0)
        #expect(await failure { _ = try await opened() }?.status == .denied)
        try #require(unsafe chmod(directory, 0o700) == 0)
        for file in ["\(directory)/none/a.db", "/dev/null/a.db", "\(directory)/"] {
            let fields: JSONObject = ["file": .string(file), "maxBytes": 65_536]
            let sqlite = try SQLite(configuration: PluginConfiguration(fields), host: Host())
            let error = await failure { _ = try await sqlite.open() }
            #expect([.notFound, .invalid].contains(error?.status), "\(file)")
        }
    }

    @Test func `a file that was replaced takes no record until the next probe`() async throws {
        let sqlite = try await opened()
        _ = try await sqlite.create(["a": 1], in: "c", id: "a")
        try #require(unsafe rename(path, "\(directory)/kept.db") == 0)
        let error = await failure { _ = try await sqlite.create(["a": 2], in: "c", id: "b") }
        #expect(error?.status == .unavailable && error?.message.contains("removed or replaced") == true)
        _ = try await sqlite.probe()
        _ = try await sqlite.create(["a": 3], in: "c", id: "a")
        await sqlite.close()
        #expect(await failure { _ = try await sqlite.get("a", in: "c") }?.status == .notOpen)
    }

    @Test func `a file whose directory is reached through a symbolic link takes no record once that leads elsewhere`()
        async throws
    {
        let (link, other) = ("\(directory)/link.db", "\(directory)/kept.db")
        try #require(unsafe symlink(directory, link) == 0)
        let fields: JSONObject = ["file": .string("\(link)/records.db"), "maxBytes": 65_536]
        let sqlite = try SQLite(configuration: PluginConfiguration(fields), host: Host(clock: StoppedClock()))
        _ = try await sqlite.open()
        _ = try await sqlite.create(["a": 1], in: "c", id: "a")
        try #require(unsafe mkdir(other, 0o700) == 0 && unlink(link) == 0 && symlink(other, link) == 0)
        defer { for end in ["", "-wal", "-shm"] { unsafe unlink("\(other)/records.db\(end)") } }
        for _ in 1...2 {
            let error = await failure { _ = try await sqlite.create(["a": 2], in: "c", id: "b") }
            #expect(error?.status == .unavailable && error?.message.contains("removed or replaced") == true)
        }
        _ = try await sqlite.probe()
        _ = try await sqlite.create(["a": 3], in: "c", id: "b")
        #expect(await failure { _ = try await sqlite.get("a", in: "c") }?.status == .notFound)
        await sqlite.close()
        let kept = try await opened()
        #expect(try await kept.get("a", in: "c").data == ["a": 1])
        #expect(await failure { _ = try await kept.get("b", in: "c") }?.status == .notFound)
        await kept.close()
    }

    @Test func `a cancelled call stops waiting for another process`() async throws {
        let sqlite = try await opened()
        let other = try connection()
        try other.run("BEGIN IMMEDIATE")
        let call = Task { try await sqlite.create(["a": 1], in: "c", id: "a") }
        call.cancel()
        let error = await failure { _ = try await call.value }
        #expect(error?.status == .cancelled)
        try other.run("ROLLBACK")
        _ = try await sqlite.create(["a": 1], in: "c", id: "a")
        await sqlite.close()
    }

    /// A clock that advances by one nanosecond whenever it is read.
    private final class RunningClock: ClockService {
        private let nanoseconds = Atomic<UInt64>(0)

        var now: Timestamp { Timestamp(nanoseconds: 0) }
        var monotonic: UInt64 { nanoseconds.add(1, ordering: .relaxed).newValue }
        func sleep(for duration: Duration) async throws(PluginError) {}
    }

    @Test func `a call ends at its deadline, even while it waits for another process`() async throws {
        let clock = RunningClock()
        let sqlite = try await opened(clock: clock)
        let other = try connection()
        try other.run("BEGIN IMMEDIATE")
        let waiting = await failure {
            try await Deadline.apply(clock.monotonic + 4) {
                _ = try await sqlite.create(["a": 1], in: "c", id: "a")
            }
        }
        #expect(waiting?.status == .timedOut)
        try other.run("ROLLBACK")
        #expect(await failure { _ = try await sqlite.get("a", in: "c") }?.status == .notFound)
        let record: JSONObject = ["v": .array((0..<500).map { .integer($0) })]
        for id in 0..<100 { _ = try await sqlite.create(record, in: "c", id: "\(id)") }
        let conditions = (0..<20).map { DatabaseQuery.Filter("none\($0)", .notEqual, 1) }
        let working = await failure {
            try await Deadline.apply(clock.monotonic + 2) {
                _ = try await sqlite.query(DatabaseQuery(conditions), in: "c")
            }
        }
        #expect(working?.status == .timedOut)
        await sqlite.close()
    }

    @Test(arguments: ["create", "replace", "update", "delete"])
    func `a change whose call has ended before the commit does not happen`(_ change: String) async throws {
        let clock = RunningClock()
        let sqlite = try await opened(clock: clock)
        let made = try await sqlite.create(["a": 1], in: "c", id: "a")
        let error = await failure {
            // The clock is read before the change and before the commit.
            try await Deadline.apply(clock.monotonic + 2) { () async throws -> Void in
                switch change {
                case "create": _ = try await sqlite.create(["a": 2], in: "c", id: "b")
                case "replace": _ = try await sqlite.replace("a", with: ["a": 2], in: "c", version: nil)
                case "update": _ = try await sqlite.update("a", with: ["a": 2], in: "c", version: nil)
                default: try await sqlite.delete("a", in: "c", version: nil)
                }
            }
        }
        #expect(error?.status == .timedOut)
        #expect(try await sqlite.query(DatabaseQuery(), in: "c").records == [made])
        await sqlite.close()
    }
}
