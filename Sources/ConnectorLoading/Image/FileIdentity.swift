// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Which file something was read from, and in which state, as far as the file system tells.
package struct FileIdentity: Sendable, Hashable {
    /// The file system.
    package var device: UInt64
    /// The file within it.
    package var inode: UInt64
    /// In bytes.
    package var size: Int
    /// When its content last changed, in nanoseconds since 1970.
    package var modified: Int
}
