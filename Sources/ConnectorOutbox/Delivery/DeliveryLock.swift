// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The right of one process to deliver the events of a directory; given up when the lock is dropped or the process
/// ends.
package final class DeliveryLock: Sendable {
    private let descriptor: Int32
    private let path: String

    /// Takes the lock.
    ///
    /// - Throws: `conflict` if another process has it, `storage` if the lock cannot be made.
    package init(_ directory: String) throws(ConnectorError) {
        path = "\(directory)/lock"
        descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            throw ConnectorError(.storage, "the outbox cannot be locked: \(path): \(SystemError())")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let reason = SystemError()
            _ = close(descriptor)
            guard reason.number == EWOULDBLOCK else {
                throw ConnectorError(.storage, "the outbox cannot be locked: \(path): \(reason)")
            }
            throw ConnectorError(
                .conflict,
                "another process delivers the events of \(directory)",
                fix: "stop it, or give this one a \"state\" of its own; find it with: fuser \(path)",
                isRetryable: true
            )
        }
    }

    /// A right without a lock file, for an outbox that no other process sees.
    package init() {
        (descriptor, path) = (-1, "")
    }

    /// Whether somebody has the lock of a directory. Creates no file.
    package static func isHeld(_ directory: String) -> Bool {
        let descriptor = unsafe open("\(directory)/lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return false }
        defer { _ = close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK
    }

    /// Whether the file of the lock is still where others look for it.
    package var isInPlace: Bool { descriptor < 0 || FileID(descriptor) == FileID(path) }

    deinit {
        if descriptor >= 0 { _ = close(descriptor) }
    }
}
