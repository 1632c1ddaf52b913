// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// Files that a process locks while it uses them. The system releases the lock when the process ends, so an unlocked file is abandoned.
package enum LockedFile {
    /// Creates a file for this user, and locks it until its descriptor is closed. Blocks.
    ///
    /// - Parameters:
    ///   - path: A path that no other process uses.
    ///   - requiresLock: Whether to fail on a file system without file locking, where an abandoned file cannot be recognized.
    /// - Returns: The descriptor, for writing; nil if another process removed the file as abandoned before it was locked.
    package static func create(_ path: String, requiresLock: Bool = true) throws(SystemError) -> Int32? {
        let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard file >= 0 else { throw SystemError() }
        while flock(file, LOCK_EX) != 0 {
            let error = SystemError()
            if error.number == EINTR { continue }
            guard requiresLock else { break }
            unsafe unlink(path)
            close(file)
            throw error
        }
        if hasName(file) { return file }
        close(file)
        return nil
    }

    /// Opens an abandoned file and locks it, so that only one process handles it.
    ///
    /// - Returns: The descriptor, for reading; nil if the file cannot be opened, is in use, or has been removed.
    package static func openAbandoned(_ path: String) -> Int32? {
        guard let file = openExisting(path) else { return nil }
        if lockAbandoned(file) { return file }
        close(file)
        return nil
    }

    /// Locks an open file if it is abandoned.
    ///
    /// - Returns: Whether it is.
    static func lockAbandoned(_ file: Int32) -> Bool {
        // Since the file was opened, its process may have removed and unlocked it, or another process may have handled it.
        flock(file, LOCK_EX | LOCK_NB) == 0 && hasName(file)
    }

    /// Whether another process, or this one, has a file locked. Shares the lock for a moment.
    package static func isLocked(_ path: String) -> Bool {
        guard let file = openExisting(path) else { return false }
        defer { close(file) }
        return flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    private static func openExisting(_ path: String) -> Int32? {
        let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        return file >= 0 ? file : nil
    }

    /// Whether an open file still has a name.
    private static func hasName(_ file: Int32) -> Bool {
        var status = stat()
        return unsafe fstat(file, &status) == 0 && status.st_nlink > 0
    }
}
