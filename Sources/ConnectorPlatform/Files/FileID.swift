// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// The identity of a file, by device and inode number: equal for all its names.
package struct FileID: Sendable, Hashable {
    private let device: dev_t
    private let number: ino_t

    /// Identifies the file that stat(2) describes.
    init(_ status: stat) {
        (device, number) = (status.st_dev, status.st_ino)
    }

    /// Identifies the file at a path; nil if there is none.
    package init?(_ path: String) { self.init(path, in: AT_FDCWD) }

    /// Identifies the entry of an open directory; nil if there is none of that name.
    package init?(_ name: String, in directory: Int32) {
        guard let status = UntimedStatus(name, in: directory) else { return nil }
        (device, number) = (status.device, status.number)
    }

    /// Identifies an open file; nil if the descriptor is invalid.
    package init?(_ descriptor: Int32) {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }
}
