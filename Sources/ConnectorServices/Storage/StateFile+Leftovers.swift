// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorPlatform

#if canImport(Glibc)
    import Glibc
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
            // Without file locking, leftovers are not removed; everything else works.
            if let file = try LockedFile.create(path, requiresLock: false) { return (path, file) }
        }
    }

    /// Removes the temporary files of crashed writes, but not those of writes in progress.
    package func removeLeftovers() {
        for entry in (try? Directory.entries(of: directory)) ?? [] {
            guard entry.name.hasPrefix("\(name)."), entry.name.hasSuffix(".new") else { continue }
            let path = "\(directory)/\(entry.name)"
            guard let file = LockedFile.openAbandoned(path) else { continue }
            unsafe unlink(path)
            close(file)
        }
    }
}
