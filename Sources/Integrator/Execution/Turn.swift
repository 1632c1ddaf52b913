// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorOneShot
internal import Synchronization

/// One call's place in the execution of its call flow.
///
/// A reference, because the call and the turnstile share it; two turns are the same only if they are one.
final class Turn: Sendable {
    /// Whether the call was overtaken, and what ends it.
    private struct Supersession {
        /// Set once, never reset.
        var hasHappened = false
        /// Ends the call; known a moment after the turn was taken.
        var end: (@Sendable () -> Void)?
    }

    /// Sent when the call may begin after the duration, or nil when it has given up.
    private let permission = OneShot<Duration?>()

    /// Held for a few instructions at a time; the call is ended outside.
    private let supersession = Mutex(Supersession())

    /// Lets the call begin after a while.
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

    /// Says how the call is ended; happens at once when it was overtaken already.
    func onSupersede(_ end: @escaping @Sendable () -> Void) {
        let hasHappened = supersession.withLock { supersession in
            supersession.end = end
            return supersession.hasHappened
        }
        if hasHappened { end() }
    }

    /// Waits until the call may begin.
    ///
    /// - Parameter clock: Measures the delay that comes with the permission.
    /// - Returns: False when the task was cancelled before.
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

extension Turn: Hashable {
    /// Identity: two turns are never alike.
    static func == (left: Turn, right: Turn) -> Bool {
        left === right
    }

    /// Hashes the identity.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(self))
    }
}
