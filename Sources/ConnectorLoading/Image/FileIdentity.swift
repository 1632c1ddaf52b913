// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The identity of a file and of its state, from the file system's metadata.
package struct FileIdentity: Sendable, Hashable {
    /// The device id of the file system.
    package var device: UInt64
    /// The inode number within the file system.
    package var inode: UInt64
    /// The size, in bytes.
    package var size: Int
    /// When the content last changed, in nanoseconds since 1970-01-01T00:00:00Z.
    package var modified: Int
}
