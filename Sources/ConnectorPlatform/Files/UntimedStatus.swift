// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import CLinux
    internal import Glibc
    // As in Monitor: the compiler may take `stat` from this module.
    internal import SwiftOverlayShims
#else
    internal import Darwin
#endif

/// The status of a file without its times, for a file that is being written.
///
/// stat(2) asks for the times, too: since Linux 6.13, the next write then changes them to the nanosecond, and the next fdatasync(2) writes
/// the inode besides. Each such write and synchronization took half as long again.
package struct UntimedStatus: Sendable {
    let device: dev_t
    let number: ino_t
    /// In bytes.
    package let size: Int64

    /// The status of the entry of a directory, which may be a link; nil if there is none.
    ///
    /// - Parameter directory: An open directory; by default, the working directory.
    package init?(_ name: String, in directory: Int32 = AT_FDCWD) {
        #if canImport(Glibc)
            var untimed = statx()
            let mask = UInt32(STATX_INO | STATX_SIZE)
            if unsafe statx(directory, name, AT_SYMLINK_NOFOLLOW, mask, &untimed) == 0 {
                (device, number) = (unsafe linux_device(&untimed), ino_t(untimed.stx_ino))
                size = Int64(clamping: untimed.stx_size)
                return
            }
            // The filter of an old container engine knows no statx(2).
            guard errno == EPERM || errno == ENOSYS else { return nil }
        #endif
        var status = stat()
        guard unsafe fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return nil }
        (device, number, size) = (status.st_dev, status.st_ino, Int64(status.st_size))
    }
}
