// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Which file something was read from, and in which state, as far as the file system tells.
struct FileIdentity: Sendable, Hashable {
    /// The file system.
    var device: UInt64
    /// The file within it.
    var inode: UInt64
    /// In bytes.
    var size: Int
    /// When its content last changed, in nanoseconds since 1970.
    var modified: Int
}
