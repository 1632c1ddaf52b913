// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CSQLite
internal import ConnectorManifest
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The system's function, apart from the method of the same name.
private let closeDescriptor: @Sendable (Int32) -> Int32 = { close($0) }

/// Opens a directory, to lock it.
private let openDescriptor: @Sendable (String) -> Int32 = { unsafe open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }

/// The file and its directory: made, checked, set aside and written anew.
extension SQLiteEngine {
    /// Whether a directory has an outbox's file.
    package static func isStored(in directory: String) -> Bool { unsafe access("\(directory)/\(fileName)", F_OK) == 0 }

    /// Opens a file while no other process does: SQLite makes a new file in steps, and who comes between them is turned
    /// away at once, without its usual wait.
    static func openAlone(_ path: String, in directory: String) throws(Database.Failure) -> OutboxTables {
        let descriptor = openDescriptor(directory)
        defer { if descriptor >= 0 { _ = closeDescriptor(descriptor) } }
        while descriptor >= 0, flock(descriptor, LOCK_EX) != 0, errno == EINTR {}
        return try OutboxTables(path)
    }

    /// Makes the directory, or checks that it is this user's alone.
    static func prepare(_ directory: String) throws(ConnectorError) {
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
    static func touch(_ path: String) {
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        if descriptor >= 0 { _ = closeDescriptor(descriptor) }
    }

    /// Renames a damaged file and what belongs to it, so that nothing of it is lost.
    static func setAside(_ path: String, _ now: Timestamp) throws(Database.Failure) -> String {
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
    static func restore(
        _ path: String,
        from tables: OutboxTables,
        _ now: Timestamp
    ) throws(Database.Failure) -> String? {
        let copy = aside(path, "kept", now)
        do throws(Database.Failure) {
            try tables.copy(to: copy)
        } catch {
            unsafe unlink(copy)
            throw error
        }
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
}
