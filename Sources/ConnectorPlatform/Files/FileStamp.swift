// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    import Glibc
    // As in Monitor: whole-module builds may take `timespec` from this module.
    import SwiftOverlayShims
#else
    import Darwin
#endif

/// What the file system says of a file, which differs after every change of the file, and of what a link leads to.
package struct FileStamp: Sendable, Hashable {
    private let device: UInt64
    private let number: UInt64
    private let size: Int64
    private let modified: [Int]
    private let changed: [Int]

    /// Reads the stamp of a file, following symbolic links; nil if there is none.
    package init?(_ path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        (device, number, size) = (UInt64(status.st_dev), UInt64(status.st_ino), Int64(status.st_size))
        #if canImport(Darwin)
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        self.modified = [Int(modified.tv_sec), Int(modified.tv_nsec)]
        self.changed = [Int(changed.tv_sec), Int(changed.tv_nsec)]
    }
}
