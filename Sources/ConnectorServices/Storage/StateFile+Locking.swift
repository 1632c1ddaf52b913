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
    /// The identity of a file's content, which changes with every write.
    package struct Identity: Sendable, Hashable {
        private let device: UInt64
        private let inode: UInt64
        private let size: Int64
        private let seconds: Int64
        private let nanoseconds: Int64

        /// Creates the identity from the result of stat(2) or fstat(2).
        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            inode = UInt64(truncatingIfNeeded: status.st_ino)
            size = Int64(status.st_size)
            #if canImport(Glibc)
                (seconds, nanoseconds) = (Int64(status.st_mtim.tv_sec), Int64(status.st_mtim.tv_nsec))
            #else
                (seconds, nanoseconds) = (Int64(status.st_mtimespec.tv_sec), Int64(status.st_mtimespec.tv_nsec))
            #endif
        }
    }

    /// The identity of the content now; nil if there is no file.
    package func identity() throws(SystemError) -> Identity? {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        return Identity(status)
    }

    /// How often to retry a lock that another process holds, and the wait in between: 2 s in total.
    private static let patience = (attempts: 400, microseconds: UInt32(5000))

    /// Locks the directory against changes by other hosts; creates it if it does not exist.
    ///
    /// - Returns: A descriptor; closing it releases the lock.
    /// - Throws: `EAGAIN` if another process holds the lock longer than any write takes.
    package func lock() throws(SystemError) -> Int32 {
        try Directory.makePrivate(directory)
        let folder = try openDirectory()
        var attempts = 0
        while flock(folder, LOCK_EX | LOCK_NB) != 0 {
            // Without file locking, writes are still atomic.
            guard errno == EWOULDBLOCK || errno == EINTR else { return folder }
            attempts += 1
            guard attempts < Self.patience.attempts else {
                close(folder)
                throw SystemError(EAGAIN)
            }
            usleep(Self.patience.microseconds)
        }
        return folder
    }

    /// Opens the directory, and denies other users access: see ``Directory/openPrivate(_:)``.
    package func openDirectory() throws(SystemError) -> Int32 {
        if let enclosing { close(try Directory.openPrivate(enclosing)) }
        return try Directory.openPrivate(directory)
    }
}
