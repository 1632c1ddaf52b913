// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// Which file it is, and in which state, from the file system's metadata. Whatever changes the file changes its stamp.
package struct FileStamp: Sendable, Hashable {
    /// The file; nil for bytes that are not a file.
    package var file: FileID?
    /// The size, in bytes.
    package var size: Int
    /// When the content last changed, in nanoseconds since 1970-01-01T00:00:00Z; a program may set it to any time.
    package var modified: Int
    /// When the content or the metadata last changed, in nanoseconds since 1970-01-01T00:00:00Z; only the system sets it.
    package var changed: Int
    /// The user that owns the file.
    package var owner: UInt32
    /// The group that owns the file.
    package var group: UInt32
    /// The kind of the file and its permissions, as stat(2) has them.
    package var mode: UInt32

    /// The stamp of bytes that are not a file.
    package init(size: Int) {
        (file, self.size, modified, changed) = (nil, size, 0, 0)
        (owner, group, mode) = (0, 0, 0)
    }

    /// The stamp of the file at a path, or of what a symbolic link there leads to; nil if there is none, or if it cannot be reached.
    package init?(path: String) {
        var status = stat()
        guard unsafe stat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The stamp of the entry at a path itself, which may be a symbolic link; nil, with `errno`, if there is none.
    package init?(itself path: String) {
        var status = stat()
        guard unsafe lstat(path, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The stamp of an open file; nil, with `errno`, if its metadata cannot be read.
    package init?(descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// The kind of the file, `S_IFREG` for a regular one: `mode` without the permissions, by `S_IFMT` of stat(2).
    package var kind: UInt32 { mode & 0o170000 }

    private init(_ status: stat) {
        #if canImport(Glibc)
            let (modified, changed) = (status.st_mtim, status.st_ctim)
        #else
            let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #endif
        file = FileID(status)
        size = Int(status.st_size)
        self.modified = modified.tv_sec &* 1_000_000_000 &+ modified.tv_nsec
        self.changed = changed.tv_sec &* 1_000_000_000 &+ changed.tv_nsec
        (owner, group, mode) = (status.st_uid, status.st_gid, UInt32(status.st_mode))
    }
}
