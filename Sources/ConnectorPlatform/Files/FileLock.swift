// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The lock of a file that this process holds until the value is released, or the process ends.
///
/// A child that was forked without `exec` has the open file, too, and with it the lock: closing the file here does not unlock it. So it is
/// unlocked before. In the child, whose copy of the value may be released as well, the lock stays the parent's.
package final class FileLock: Sendable {
    /// The open file.
    package let descriptor: Int32
    private let owner: Int32

    /// Takes over an open file, which closes with the value.
    ///
    /// - Parameters:
    ///   - descriptor: The file, which the process has locked with `flock`, or is about to.
    ///   - owner: The process that locks it; nil for this one.
    package init(_ descriptor: Int32, owner: Int32? = nil) {
        self.descriptor = descriptor
        self.owner = owner ?? getpid()
    }

    deinit {
        if getpid() == owner { _ = flock(descriptor, LOCK_UN) }
        _ = close(descriptor)
    }
}
