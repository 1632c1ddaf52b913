// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorBase
internal import ConnectorOutbox
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// The system call, which the method of the same name would shadow.
private let closeDescriptor: @Sendable (Int32) -> Int32 = { close($0) }

/// Opens a file or a directory for reading, with further flags.
private let openDescriptor: @Sendable (String, Int32) -> Int32 = { unsafe open($0, O_RDONLY | O_CLOEXEC | $1) }

/// The file and its directory: creating, checking, setting aside and replacing them.
///
/// A process locks the directory while it creates or replaces the file, so that two processes do not salvage it at the same time.
extension SQLiteEngine {
    /// The suffixes of the files that SQLite uses for one database.
    private static let suffixes = ["", "-wal", "-shm", "-journal"]

    /// Whether a directory contains the file of an outbox.
    package static func isStored(in directory: String) -> Bool {
        ["", ".salvaged", "-wal"].contains { isPresent("\(directory)/\(fileName)\($0)") }
    }

    /// The number of events that wait in a directory's file, by the connector that has yet to receive them.
    ///
    /// Unlike an engine, this neither creates nor repairs the file.
    ///
    /// - Returns: Only connectors for which events wait. None also if the file cannot be read, has the schema of an earlier version, or was
    ///   set aside and not yet replaced.
    package static func waitingCounts(in directory: String) async -> [String: Int] {
        let path = "\(directory)/\(fileName)"
        let watch = StatementWatch()
        // Closing the last connection would delete a damaged log.
        guard isPresent(path), LogScan.damage(of: path) == nil,
            let reader = try? SQLiteReader(
                watch: watch,
                ReadingConnection(open: reading(path, watch, StoreRevisions()))
            )
        else { return [:] }
        let statistics = try? await reader.perform { tables throws(Database.Failure) in try tables.statistics() }
        await reader.close()
        return (statistics ?? [:]).mapValues(\.queued).filter { $0.value > 0 }
    }

    /// Whether there is a file at a path.
    static func isPresent(_ path: String) -> Bool { unsafe access(path, F_OK) == 0 }

    /// Whether there is no file at a path, or nothing in it.
    private static func isEmpty(_ path: String) -> Bool {
        var status = stat()
        return unsafe lstat(path, &status) != 0 || status.st_size == 0
    }

    /// Throws a damage failure if the file is missing or empty and its log has pages, since SQLite would delete the log.
    static func checkLog(_ path: String) throws(Database.Failure) {
        if LogScan.isAlone(path) { throw .damaged("it is missing or empty, and its log is not") }
    }

    /// Runs a body while holding the lock of a directory.
    private static func withLock<Value>(
        of directory: String,
        _ body: () throws(Database.Failure) -> Value
    ) throws(Database.Failure) -> Value {
        let descriptor = openDescriptor(directory, O_DIRECTORY)
        guard descriptor >= 0 else { return try body() }
        let lock = FileLock(descriptor)
        defer { extendLifetime(lock) }
        while flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try body()
    }

    /// Opens the file for writing. A damaged one is set aside, and replaced by a new one with the data that could be read.
    ///
    /// SQLite initializes a new file in several steps, and opening it in between fails, so only one process at a time opens it.
    ///
    /// - Parameters:
    ///   - watch: Interrupts the salvage of a damaged file.
    ///   - onSalvage: Called every few seconds of a salvage with the number of rows that it has read.
    ///   - onDamage: Called with the new path of a damaged file, and the reason.
    static func openFile(
        _ path: String,
        in directory: String,
        _ now: Timestamp,
        _ watch: StatementWatch,
        _ make: (String) throws(Database.Failure) -> OutboxTables,
        onSalvage: @escaping (_ rows: Int) -> Void = { _ in },
        onDamage: (String, String) -> Void
    ) throws(Database.Failure) -> OutboxTables {
        try withLock(of: directory) { () throws(Database.Failure) in
            try checkKind(path)
            try finishSalvage(path, now)
            touch(path)
            do throws(Database.Failure) {
                try checkLog(path)
                // SQLite would read the log up to the damage, and delete the rest.
                if let offset = LogScan.damage(of: path) {
                    throw Database.Failure.damaged("its log is damaged at byte \(offset)")
                }
                return try make(path)
            } catch {
                guard error.isDamage else { throw error }
                try replace(path, error, now, watch, onSalvage, onDamage)
                return try make(path)
            }
        }
    }

    /// Replaces a file that was found to be damaged while it was open, unless another process has already replaced it.
    static func recover(
        _ path: String,
        _ failure: Database.Failure,
        of file: FileID,
        in directory: String,
        _ now: Timestamp,
        _ watch: StatementWatch,
        onSalvage: @escaping (_ rows: Int) -> Void,
        onDamage: (String, String) -> Void
    ) throws(Database.Failure) {
        try withLock(of: directory) { () throws(Database.Failure) in
            if FileID(path) == file { try replace(path, failure, now, watch, onSalvage, onDamage) }
        }
    }

    /// Refuses anything but a regular file, since opening a pipe would block.
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
                description: "\(path)\(suffix) is \(kind), not a file",
                advice: "move \(path)\(suffix) away: the host then creates the file"
            )
        }
    }

    /// Creates the directory, or checks that only this user has access to it.
    ///
    /// A link to it is followed unless another user could redirect it later.
    static func prepare(_ directory: String) throws(ConnectorError) {
        var place = directory
        do throws(SystemError) {
            try Directory.makePrivate(directory)
            if FileTrust().concern(directory) == nil { place = directory.realPath }
            try Directory.checkPrivate(place)
        } catch {
            throw refusal(of: place, error)
        }
    }

    /// The error for a directory that cannot be used, which depends on what is at its path.
    private static func refusal(of directory: String, _ error: SystemError) -> ConnectorError {
        var status = stat()
        let isThere = unsafe lstat(directory, &status) == 0
        if isThere, status.st_mode & S_IFMT == S_IFLNK {
            return ConnectorError(
                .storage,
                "the directory of the outbox is a symbolic link that leads nowhere, or that others can replace: \(directory)",
                fix: "set the directory that it leads to as \"state\""
            )
        }
        guard isThere, error.number == EPERM else {
            return ConnectorError(
                .storage,
                "cannot create the directory of the outbox: \(directory): \(error)",
                fix: error.diskRemedy ?? "create its parent directory, or set another directory as \"state\""
            )
        }
        guard status.st_uid == geteuid() else {
            return ConnectorError(
                .storage,
                "the directory of the outbox belongs to another user (\(status.st_uid)): \(directory)",
                fix: "run: chown \(geteuid()) \(directory); or set another directory as \"state\""
            )
        }
        return ConnectorError(
            .storage,
            "other users can access the directory of the outbox: \(directory)",
            fix: "run: chmod 700 \(directory)"
        )
    }

    /// Creates the file with the mode 0600, or gives this mode to one that is there, such as a backup that was put back, and to its log.
    /// SQLite would use the umask, and gives its other files the mode of this one. A failure shows when the file is opened.
    ///
    /// An existing file is not opened, because closing it would release the locks of this process on it.
    private static func touch(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 {
            _ = closeDescriptor(descriptor)
            return
        }
        for suffix in suffixes {
            var status = stat()
            // No one else can have put a link there since the look at its kind: the directory is this user's alone.
            guard unsafe lstat(path + suffix, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
            if status.st_mode & 0o777 != 0o600 { _ = unsafe chmod(path + suffix, 0o600) }
        }
    }

    // MARK: Setting aside

    /// Replaces a damaged file with a new one that has the data that can be read.
    ///
    /// The damaged file is renamed while its write lock is held, so that no other process can still write to it.
    private static func replace(
        _ path: String,
        _ failure: Database.Failure,
        _ now: Timestamp,
        _ watch: StatementWatch,
        _ onSalvage: @escaping (_ rows: Int) -> Void,
        _ onDamage: (String, String) -> Void
    ) throws(Database.Failure) {
        let (begun, done) = (path + ".salvaging", path + ".salvaged")
        for suffix in suffixes { unsafe unlink(begun + suffix) }
        touch(begun)
        var salvage = try Salvage(of: path, into: begun, watch: watch, progress: SalvageProgress(tell: onSalvage))
        do throws(Database.Failure) {
            try salvage.run()
        } catch {
            for suffix in suffixes { unsafe unlink(begun + suffix) }
            throw error
        }
        let outcome = try salvage.finish()
        try synchronize(begun)
        guard unsafe rename(begun, done) == 0 else { throw notReplaced() }
        let aside = aside(path, "damaged", now)
        try setAside(path, as: aside)
        guard unsafe rename(done, path) == 0 else { throw notReplaced() }
        try synchronize(path.parentPath)
        salvage.release()
        onDamage(aside, "\(failure.reason); \(outcome)")
    }

    /// Completes the replacement of a damaged file by a process that ended between the two renames, and removes what a salvage left that
    /// was ended before them.
    private static func finishSalvage(_ path: String, _ now: Timestamp) throws(Database.Failure) {
        for suffix in suffixes { unsafe unlink(path + ".salvaging" + suffix) }
        let done = path + ".salvaged"
        guard isPresent(done) else { return }
        guard !isPresent(path) else {
            // The damaged file is still in place: salvage it again.
            unsafe unlink(done)
            return
        }
        try setAside(path, as: aside(path, "damaged", now))
        guard unsafe rename(done, path) == 0 else { throw notReplaced() }
    }

    /// Renames a damaged file and its log, so that nothing is lost. The file comes first: if the process ends in between, a file without its
    /// log would be salvaged again, and lack what only the log has.
    private static func setAside(_ path: String, as aside: String) throws(Database.Failure) {
        for suffix in suffixes {
            guard unsafe rename(path + suffix, aside + suffix) != 0, errno != ENOENT else { continue }
            throw Database.Failure(description: "the damaged file cannot be set aside: \(SystemError())")
        }
    }

    /// The path of a file that was set aside in a directory because it is damaged; nil if it was not.
    static func damagedFile(_ file: FileID?, in directory: String) -> String? {
        guard let file, let entries = try? Directory.entries(of: directory) else { return nil }
        return entries.filter { $0.name.hasPrefix("\(fileName).damaged-") }
            .map { "\(directory)/\($0.name)" }
            .first { FileID($0) == file }
    }

    private static func notReplaced() -> Database.Failure {
        Database.Failure(description: "the damaged file cannot be replaced: \(SystemError())")
    }

    /// Writes the contents of an open file back to its path, from which it or its log was removed. A file that has lost the index of its
    /// log alone is to be closed and opened again: SQLite makes another index.
    ///
    /// - Returns: The path of the copy if another file or log is there by now; otherwise nil.
    static func restore(
        _ path: String,
        from tables: OutboxTables,
        _ now: Timestamp
    ) throws(Database.Failure) -> String? {
        guard !tables.database.hasLostIndexAlone else { return nil }
        let copy = aside(path, "kept", now)
        do throws(Database.Failure) {
            touch(copy)
            try tables.copy(to: copy)
            try synchronize(copy)
        } catch {
            unsafe unlink(copy)
            throw error
        }
        return try withLock(of: path.parentPath) { () throws(Database.Failure) in
            // Nothing has been added to a file that has lost its log alone, so the copy takes its place.
            let hasLostLog = FileID(path) == tables.database.file && isEmpty(path + "-wal")
            if hasLostLog {
                for suffix in suffixes.dropFirst() { unsafe unlink(path + suffix) }
                return unsafe rename(copy, path) == 0 ? nil : copy
            }
            // The log of the removed file is not the copy's, nor that of a file in its place, but would be read into it.
            if !isPresent(path) || tables.database.hasLeftLog {
                for suffix in suffixes.dropFirst() { unsafe unlink(path + suffix) }
            }
            // link(2) fails if another process has created the file, which rename(2) would replace.
            guard unsafe link(copy, path) == 0 else { return copy }
            unsafe unlink(copy)
            return nil
        }
    }

    /// Synchronizes a file or a directory to the disk.
    private static func synchronize(_ path: String) throws(Database.Failure) {
        let descriptor = openDescriptor(path, 0)
        defer { if descriptor >= 0 { _ = closeDescriptor(descriptor) } }
        #if canImport(Darwin)
            // On Darwin, fsync(2) leaves the data in the disk's cache.
            let isDone = descriptor >= 0 && (fcntl(descriptor, F_FULLFSYNC) == 0 || fsync(descriptor) == 0)
        #else
            let isDone = descriptor >= 0 && fsync(descriptor) == 0
        #endif
        guard isDone else {
            let error = SystemError()
            throw Database.Failure(code: SQLITE_IOERR, cause: "\(path): \(error)", number: error.number)
        }
    }

    /// An unused name: the clock may have been set back, or stand still in a test.
    private static func aside(_ path: String, _ word: String, _ now: Timestamp) -> String {
        let name = "\(path).\(word)-\("\(now)".replacing(":", with: ""))"
        var (number, free) = (1, name)
        while isPresent(free) {
            number += 1
            free = "\(name)-\(number)"
        }
        return free
    }
}
