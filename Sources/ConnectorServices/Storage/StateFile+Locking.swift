// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Coordination between several hosts of one user.
extension StateFile {
    /// The stamp of the content now, which changes with every write; nil if there is no file.
    package func stamp() throws(SystemError) -> FileStamp? {
        guard let stamp = FileStamp(itself: path) else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        return stamp
    }

    /// How often to retry a lock that another process holds, and the wait in between: 2 s in total.
    private static let patience = (attempts: 400, microseconds: UInt32(5000))

    /// Locks the directory against changes by other hosts; creates it if it does not exist.
    ///
    /// - Throws: `EAGAIN` if another process holds the lock longer than any write takes.
    package func lock() throws(SystemError) -> FileLock {
        try Directory.makePrivate(directory)
        let lock = FileLock(try openDirectory())
        var attempts = 0
        while flock(lock.descriptor, LOCK_EX | LOCK_NB) != 0 {
            // Without file locking, writes are still atomic.
            guard errno == EWOULDBLOCK || errno == EINTR else { return lock }
            attempts += 1
            guard attempts < Self.patience.attempts else { throw SystemError(EAGAIN) }
            usleep(Self.patience.microseconds)
        }
        return lock
    }

    /// Opens the directory, and denies other users access: see ``Directory/openPrivate(_:)``.
    package func openDirectory() throws(SystemError) -> Int32 {
        if let enclosing { close(try Directory.openPrivate(enclosing)) }
        return try Directory.openPrivate(directory)
    }
}
