// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts the calls of the host that are inside an instance, and lets nobody in once it is on its way out.
///
/// Entering and leaving are one atomic addition each; only what happens once, at the end, takes a lock.
final class InstanceLife: Sendable {
    /// The calls inside, and the bits that close the door.
    private let count = Atomic<UInt64>(0)
    /// Nobody gets in any more.
    private static let closed: UInt64 = 1 << 63
    /// No operation gets in any more; the host's own steps do.
    private static let draining: UInt64 = 1 << 62
    private static let doors = closed | draining

    private let isClaimed = Atomic(false)
    private let hasEnded = Atomic(false)
    /// Ends when calls have left, or nobody waits for that any more.
    private let drained = Pause()
    /// Ends when `destroy` has returned, or nobody waits for that any more.
    private let ended = Pause()

    /// Counts a call in. Whoever calls this calls ``leave()``, also after false, which it gets once the door is closed.
    ///
    /// - Parameter isOperation: Whether an application calls; it is turned away as soon as the gate begins to close.
    func enter(isOperation: Bool) -> Bool {
        let before = count.add(1, ordering: .acquiring).oldValue
        return before & (isOperation ? Self.doors : Self.closed) == 0
    }

    /// Counts a call out; true if it was the last one and the door is closed: then the caller destroys the instance.
    func leave() -> Bool {
        let after = count.subtract(1, ordering: .sequentiallyConsistent).newValue
        guard after & Self.doors != 0, after & ~Self.doors == 0 else { return false }
        endDrain()
        return after & Self.closed != 0 && claimDestruction()
    }

    /// Closes the door; true if nobody is inside: then the caller destroys the instance.
    func close() -> Bool {
        let before = count.bitwiseOr(Self.closed, ordering: .acquiringAndReleasing).oldValue
        return before & ~Self.doors == 0 && claimDestruction()
    }

    private func claimDestruction() -> Bool {
        !isClaimed.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Lets no further operation in; true if no call is inside.
    func stopOperations() -> Bool {
        count.bitwiseOr(Self.draining, ordering: .sequentiallyConsistent).oldValue & ~Self.doors == 0
    }

    /// After ``stopOperations()``: waits for the calls inside to leave, or for ``endDrain()``. For one waiter.
    func drain() async {
        if !isEmpty { await drained.ended() }
    }

    /// Lets the one go who waits for calls to leave, or will.
    func endDrain() {
        drained.end()
    }

    /// Whether no call is inside.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) & ~Self.doors == 0 }

    /// Waits for ``destroyed()``, or for ``endWait()``. For one waiter.
    func waitForEnd() async {
        await ended.ended()
    }

    /// Lets the one go who waits for the end, or will: a call that never comes back keeps the instance alive.
    func endWait() {
        ended.end()
    }

    /// Whether ``destroyed()`` was called.
    var isDestroyed: Bool { hasEnded.load(ordering: .acquiring) }

    /// The plugin's `destroy` returned.
    func destroyed() {
        hasEnded.store(true, ordering: .releasing)
        endWait()
    }
}
