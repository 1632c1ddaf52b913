// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    import Darwin
#endif

extension StateFile {
    /// Creates a temporary file under a unique name and locks it until it is closed.
    ///
    /// The name is unique because two hosts of one user may write at the same time. An unlocked temporary file is left
    /// over from a crash.
    package func makeTemporary() throws(SystemError) -> (path: String, descriptor: Int32) {
        while true {
            let path = "\(path).\(String(UInt64.random(in: 0 ... .max), radix: 16)).new"
            let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            guard file >= 0 else { throw SystemError() }
            // Without file locking, leftovers are not removed; everything else works.
            while flock(file, LOCK_EX) != 0, errno == EINTR {}
            var status = stat()
            if unsafe fstat(file, &status) == 0, status.st_nlink > 0 { return (path, file) }
            // Another host removed it as a leftover before it was locked.
            close(file)
        }
    }

    /// Removes the temporary files of crashed writes, but not those of writes in progress.
    package func removeLeftovers() {
        for entry in (try? Directory.entries(of: directory)) ?? [] {
            guard entry.name.hasPrefix("\(name)."), entry.name.hasSuffix(".new") else { continue }
            let path = "\(directory)/\(entry.name)"
            let file = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
            guard file >= 0 else { continue }
            if flock(file, LOCK_EX | LOCK_NB) == 0 { unsafe unlink(path) }
            close(file)
        }
    }
}
