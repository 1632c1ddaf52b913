// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorPlatform

#if canImport(Glibc)
    internal import Glibc
#else
    internal import Darwin
#endif

/// The right of one host to deliver the events of a directory; given up when the lock is dropped or the process
/// ends.
package final class DeliveryLock: Sendable {
    /// Nil for an outbox that no other process sees.
    private let lock: FileLock?
    private let path: String

    /// Takes the lock.
    ///
    /// - Throws: `conflict` if another host has it, `storage` if the lock cannot be made.
    package init(_ directory: String) throws(ConnectorError) {
        path = "\(directory)/lock"
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            let error = SystemError()
            throw ConnectorError(
                .storage,
                "the outbox cannot be locked: \(path): \(error)",
                fix: error.diskRemedy ?? error.limitRemedy
            )
        }
        lock = FileLock(descriptor)
        guard let refusal = Self.take(descriptor) else { return }
        guard refusal.number == EWOULDBLOCK else {
            throw ConnectorError(.storage, "the outbox cannot be locked: \(path): \(refusal)")
        }
        throw ConnectorError(
            .conflict,
            "another host, in this process or another one, delivers the events of \(directory)",
            fix: "close it, or give this one a \"state\" of its own; find its process with: fuser \(path)",
            isRetryable: true
        )
    }

    /// How often to try again while other processes look, and the wait in between: a look takes microseconds.
    private static let patience = (attempts: 200, microseconds: UInt32(1000))

    /// Locks a file, unless another process has the lock. Processes that only look, see ``isHeld(_:)``, are waited for.
    ///
    /// - Returns: The refusal; nil if the file is locked.
    private static func take(_ descriptor: Int32) -> SystemError? {
        var attempts = 0
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let refusal = SystemError()
            attempts += 1
            // Those that look share the lock, and whoever delivers does not.
            guard refusal.number == EWOULDBLOCK, attempts < patience.attempts,
                flock(descriptor, LOCK_SH | LOCK_NB) == 0
            else { return refusal }
            _ = flock(descriptor, LOCK_UN)
            usleep(patience.microseconds)
        }
        return nil
    }

    /// A right without a lock file, for an outbox that no other process sees.
    package init() {
        (lock, path) = (nil, "")
    }

    /// Whether a process has the lock of a directory. Creates no file, and shares the lock for a moment.
    package static func isHeld(_ directory: String) -> Bool { LockedFile.isLocked("\(directory)/lock") }

    /// Whether the file of the lock is still where others look for it.
    package var isInPlace: Bool { lock.map { FileID($0.descriptor) == FileID(path) } ?? true }
}
