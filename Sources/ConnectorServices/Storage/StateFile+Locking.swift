// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// What several hosts of one user agree on.
extension StateFile {
    /// Which content a file had: another host's write changes it.
    package struct Identity: Sendable, Hashable {
        private let device: UInt64
        private let inode: UInt64
        private let size: Int64
        private let seconds: Int64
        private let nanoseconds: Int64

        /// Takes the facts of an open or named file.
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

    /// How often to ask for a lock that another process holds, and how long to wait in between: 2 s in all.
    private static let patience = (attempts: 400, microseconds: UInt32(5000))

    /// Keeps other hosts from changing files of the directory, which is made if it does not exist.
    ///
    /// - Returns: A descriptor; closing it ends the lock.
    /// - Throws: `EAGAIN` if another process keeps the lock for longer than any write takes.
    package func lock() throws(SystemError) -> Int32 {
        try Directory.makePrivate(directory)
        let folder = try openDirectory()
        var attempts = 0
        while flock(folder, LOCK_EX | LOCK_NB) != 0 {
            // On a file system without locks, writes are still whole.
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

    /// Opens the directory, and keeps others out of it: see ``Directory/openPrivate(_:)``.
    package func openDirectory() throws(SystemError) -> Int32 {
        if let enclosing { close(try Directory.openPrivate(enclosing)) }
        return try Directory.openPrivate(directory)
    }
}
