// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The space of a volume, in bytes.
package struct VolumeSpace: Sendable {
    /// The bytes available to unprivileged processes.
    package var free: Int64
    /// The volume's capacity.
    package var size: Int64

    /// Describes a volume.
    package init(free: Int64, size: Int64) {
        (self.free, self.size) = (free, size)
    }

    /// More than any volume has; sums of it do not overflow.
    private static let most: Int64 = 1 << 60

    /// Asks the system for the volume of a path; nil if it does not know, as on some network file systems.
    package init?(of path: String) {
        var status = statvfs()
        guard unsafe statvfs(path, &status) == 0, status.f_blocks > 0 else { return nil }
        let unit = Int64(clamping: status.f_frsize)
        func bytes(_ blocks: Int64) -> Int64 {
            let (product, isLarger) = blocks.multipliedReportingOverflow(by: unit)
            return isLarger ? Self.most : min(product, Self.most)
        }
        self.init(free: bytes(Int64(clamping: status.f_bavail)), size: bytes(Int64(clamping: status.f_blocks)))
    }
}
