// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's function, apart from the method of the same name.
private let closeDescriptor: @Sendable (Int32) -> Int32 = { close($0) }

/// Opens a file or a directory to read it.
private let openDescriptor: @Sendable (String, Int32) -> Int32 = { unsafe open($0, O_RDONLY | O_CLOEXEC | $1) }

/// The file and its directory: created, checked, set aside and replaced.
///
/// A process holds the lock of the directory while it creates or replaces the file, so that two processes do not salvage it twice.
extension SQLiteEngine {
    /// What the names of SQLite's files add to that of the outbox.
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Whether a directory has an outbox's file.
    package static func isStored(in directory: String) -> Bool {
        unsafe access("\(directory)/\(fileName)", F_OK) == 0 || access("\(directory)/\(fileName).salvaged", F_OK) == 0
    }

    /// Whether a file lies at a path.
    static func isPresent(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Runs something while no other process does the same in a directory.
    private static func alone<Value>(
        in directory: String,
        _ body: () throws(Database.Failure) -> Value
    ) throws(Database.Failure) -> Value {
        let descriptor = openDescriptor(directory, O_DIRECTORY)
        defer { if descriptor >= 0 { _ = closeDescriptor(descriptor) } }
        while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }

    /// Opens the file to write. One that is damaged is set aside, with a new one in its place that holds what could be read.
    ///
    /// SQLite makes a new file in steps, and turns those away that come between them, so one process at a time opens it.
    ///
    /// - Parameters:
    ///   - watch: Interrupts the salvage of a damaged file.
    ///   - onDamage: Called with the new path of a file that was set aside, and the reason.
    static func openFile(
        _ path: String,
        in directory: String,
        _ now: Timestamp,
        _ watch: StatementWatch,
        _ make: (String) throws(Database.Failure) -> OutboxTables,
        onDamage: (String, String) -> Void
    ) throws(Database.Failure) -> OutboxTables {
        try alone(in: directory) { () throws(Database.Failure) in
            try checkKind(path)
            try finishSalvage(path, now)
            touch(path)
            do throws(Database.Failure) {
                return try make(path)
            } catch {
                guard error.isDamage else { throw error }
                try replace(path, error, now, watch, onDamage)
                return try make(path)
            }
        }
    }

    /// Sets a file aside that turned out to be damaged once it was open, unless another process did so already.
    static func recover(
        _ path: String,
        _ failure: Database.Failure,
        of file: FileID,
        in directory: String,
        _ now: Timestamp,
        _ watch: StatementWatch,
        onDamage: (String, String) -> Void
    ) throws(Database.Failure) {
        try alone(in: directory) { () throws(Database.Failure) in
            if FileID(path) == file { try replace(path, failure, now, watch, onDamage) }
        }
    }

    /// Refuses what is no file, rather than to wait for the other end of a pipe.
    static func checkKind(_ path: String) throws(Database.Failure) {
        for suffix in suffixes {
            var status = stat()
            guard unsafe lstat(path + suffix, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { continue }
            let kind =
                switch status.st_mode & S_IFMT {
                case S_IFIFO: "a named pipe"
                case S_IFDIR: "a directory"
                case S_IFSOCK: "a socket"
                case S_IFLNK: "a symbolic link"
                default: "a device"
                }
            throw Database.Failure(
                description: "\(path)\(suffix) is \(kind), and no file",
                advice: "move \(path)\(suffix) away: the host then makes the file"
            )
        }
    }

    /// Makes the directory, or checks that it is this user's alone.
    static func prepare(_ directory: String) throws(ConnectorError) {
        do throws(SystemError) {
            try Directory.makePrivate(directory)
            try Directory.checkPrivate(directory)
        } catch {
            guard error.number == EPERM else {
                throw ConnectorError(
                    .storage,
                    "the outbox has no directory: \(directory): \(error)",
                    fix: "make the directory above it, or name another one as \"state\""
                )
            }
            throw ConnectorError(
                .storage,
                "the directory of the outbox is open to other users: \(directory)",
                fix: "run: chmod 700 \(directory)"
            )
        }
    }

    /// Creates the file, readable by this user alone: SQLite would leave that to the umask, and gives its other files the
    /// same mode. A failure shows when the file is opened.
    ///
    /// A file that exists is not opened: to close it would release the locks that this process has on it.
    private static func touch(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { _ = closeDescriptor(descriptor) }
    }

    // MARK: Setting aside

    /// Puts a new file in the place of a damaged one, with all that can be read of it.
    ///
    /// The damaged file is renamed while its lock to write is held, so that no process that has it open writes to it any more.
    private static func replace(
        _ path: String,
        _ failure: Database.Failure,
        _ now: Timestamp,
        _ watch: StatementWatch,
        _ onDamage: (String, String) -> Void
    ) throws(Database.Failure) {
        let (begun, done) = (path + ".salvaging", path + ".salvaged")
        for suffix in suffixes { unsafe unlink(begun + suffix) }
        touch(begun)
        var salvage = try Salvage(of: path, into: begun, watch: watch)
        do throws(Database.Failure) {
            try salvage.run()
        } catch {
            for suffix in suffixes { unsafe unlink(begun + suffix) }
            throw error
        }
        let outcome = try salvage.finish()
        try synchronise(begun)
        guard unsafe rename(begun, done) == 0 else { throw notReplaced() }
        let aside = aside(path, "damaged", now)
        try setAside(path, as: aside)
        guard unsafe rename(done, path) == 0 else { throw notReplaced() }
        try synchronise(directory(of: path))
        salvage.release()
        onDamage(aside, "\(failure.reason); \(outcome)")
    }

    /// Ends what a process began that ended between setting a damaged file aside and putting the new one in its place.
    private static func finishSalvage(_ path: String, _ now: Timestamp) throws(Database.Failure) {
        let done = path + ".salvaged"
        guard unsafe access(done, F_OK) == 0 else { return }
        guard unsafe access(path, F_OK) != 0 else {
            // The damaged file is still there: salvage it again.
            unsafe unlink(done)
            return
        }
        try setAside(path, as: aside(path, "damaged", now))
        guard unsafe rename(done, path) == 0 else { throw notReplaced() }
    }

    /// Renames a damaged file and what belongs to it, so that nothing of it is lost. The file itself comes first: without it, its log
    /// belongs to no file.
    private static func setAside(_ path: String, as aside: String) throws(Database.Failure) {
        for suffix in suffixes {
            guard unsafe rename(path + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw Database.Failure(description: "the damaged file cannot be set aside: \(SystemError())")
        }
    }

    private static func notReplaced() -> Database.Failure {
        Database.Failure(description: "no new file can take the place of the damaged one: \(SystemError())")
    }

    /// Writes what is in a file to its place, from which it was removed while it was open.
    ///
    /// - Returns: Where it is, if another file has its name by now.
    static func restore(
        _ path: String,
        from tables: OutboxTables,
        _ now: Timestamp
    ) throws(Database.Failure) -> String? {
        let copy = aside(path, "kept", now)
        do throws(Database.Failure) {
            touch(copy)
            try tables.copy(to: copy)
            try synchronise(copy)
        } catch {
            unsafe unlink(copy)
            throw error
        }
        // A link fails where a renaming would replace what another process has begun.
        guard unsafe link(copy, path) == 0 else { return copy }
        unsafe unlink(copy)
        return nil
    }

    /// Brings a file or a directory to the disk itself.
    private static func synchronise(_ path: String) throws(Database.Failure) {
        let descriptor = openDescriptor(path, 0)
        defer { if descriptor >= 0 { _ = closeDescriptor(descriptor) } }
        #if canImport(Darwin)
            // There, fsync(2) leaves the data in the disk's own memory.
            let isDone = descriptor >= 0 && (fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0)
        #else
            let isDone = descriptor >= 0 && fsync(descriptor) == 0
        #endif
        guard isDone else { throw Database.Failure(code: SQLITE_IOERR, cause: "\(path): \(SystemError())") }
    }

    private static func directory(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
    }

    /// A name that no other file has: the time of day may have been set back, or stand still in a test.
    private static func aside(_ path: String, _ word: String, _ now: Timestamp) -> String {
        let name = "\(path).\(word)-\("\(now)".replacing(":", with: ""))"
        var (number, free) = (1, name)
        while unsafe access(free, F_OK) == 0 {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }
}
