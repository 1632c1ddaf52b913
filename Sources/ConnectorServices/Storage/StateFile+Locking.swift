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
    /// The identity of the content now, which changes with every write; nil if there is no file.
    package func identity() throws(SystemError) -> FileIdentity? {
        guard let identity = FileIdentity(itself: path) else {
            if errno == ENOENT { return nil }
            throw SystemError()
        }
        return identity
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
