// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import Synchronization

/// Lets an admitted call begin, or ends it when a newer call supersedes it.
///
/// A reference type, because the call and the scheduler share it. Tickets compare by identity.
final class CallTicket: Sendable {
    /// Whether the call was superseded, and the closure that ends it.
    private struct Supersession {
        /// Set once, never reset.
        var hasHappened = false
        /// Ends the call; set shortly after the call was admitted.
        var end: (@Sendable () -> Void)?
    }

    /// Sent with the delay before the call may begin, or with nil if the call was cancelled.
    private let permission = OneShot<Duration?>()

    /// The supersession; the lock is held for a few instructions, and the closure runs outside it.
    private let supersession = Mutex(Supersession())

    /// Lets the call begin after a delay.
    func start(after delay: Duration) {
        permission.send(delay)
    }

    /// Ends the call because a newer one arrived.
    func supersede() {
        let end = supersession.withLock { supersession in
            supersession.hasHappened = true
            return supersession.end
        }
        end?()
    }

    /// Sets the closure that ends the call; runs it immediately if the call is already superseded.
    func onSupersede(_ end: @escaping @Sendable () -> Void) {
        let hasHappened = supersession.withLock { supersession in
            supersession.end = end
            return supersession.hasHappened
        }
        if hasHappened { end() }
    }

    /// Awaits permission to begin.
    ///
    /// - Parameter clock: Measures the delay that comes with the permission.
    /// - Returns: False if the task was cancelled first.
    func wait(on clock: any Clock<Duration>) async -> Bool {
        let delay = await withTaskCancellationHandler {
            await permission.wait()
        } onCancel: {
            permission.send(nil)
        }
        guard let delay else { return false }
        if delay > .zero { try? await clock.sleep(for: delay) }
        return !Task.isCancelled
    }
}

extension CallTicket: Hashable {
    /// Compares identity.
    static func == (left: CallTicket, right: CallTicket) -> Bool {
        left === right
    }

    /// Hashes the identity.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
