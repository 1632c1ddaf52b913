// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Counts the calls of the host that are inside an instance, and lets nobody in once it is on its way out.
///
/// Entering and leaving are one atomic addition each; only what happens once, at the end, takes the lock.
final class InstanceLife: Sendable {
    /// The calls inside, and the bits that close the door.
    private let count = Atomic<UInt64>(0)
    /// Nobody gets in any more.
    private static let closed: UInt64 = 1 << 63
    /// No operation gets in any more; the host's own steps do.
    private static let draining: UInt64 = 1 << 62
    private static let doors = closed | draining

    private struct Waiters {
        var isDestroyed = false
        /// Nobody waits for calls to leave any more, whether it has begun to or not.
        var hasDrainEnded = false
        /// Nobody waits for the end any more, whether it has begun to or not.
        var hasWaitEnded = false
        /// Those that wait for calls to have left.
        var drains: [CheckedContinuation<Void, Never>] = []
        /// Those that wait for `destroy` to have returned.
        var ends: [CheckedContinuation<Void, Never>] = []
    }

    private let waiters = Mutex(Waiters())

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

    private let isClaimed = Atomic(false)

    private func claimDestruction() -> Bool {
        !isClaimed.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Lets no further operation in; true if no call is inside.
    func stopOperations() -> Bool {
        count.bitwiseOr(Self.draining, ordering: .sequentiallyConsistent).oldValue & ~Self.doors == 0
    }

    /// After ``stopOperations()``: waits for the calls inside to leave, or for ``endDrain()``.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isEmpty = waiters.withLock { waiters in
                guard !waiters.hasDrainEnded, !self.isEmpty else { return true }
                waiters.drains.append(continuation)
                return false
            }
            if isEmpty { continuation.resume() }
        }
    }

    /// Lets those go who wait for calls to leave, and who will.
    func endDrain() {
        let drains = waiters.withLock { waiters in
            waiters.hasDrainEnded = true
            defer { waiters.drains = [] }
            return waiters.drains
        }
        for drain in drains { drain.resume() }
    }

    /// Whether no call is inside.
    var isEmpty: Bool { count.load(ordering: .sequentiallyConsistent) & ~Self.doors == 0 }

    /// Waits for ``destroyed()``, or for ``endWait()``.
    func waitForEnd() async {
        await withCheckedContinuation { continuation in
            let mustNotWait = waiters.withLock { waiters in
                guard !waiters.isDestroyed, !waiters.hasWaitEnded else { return true }
                waiters.ends.append(continuation)
                return false
            }
            if mustNotWait { continuation.resume() }
        }
    }

    /// Lets those go who wait for the end, and who will: a call that never comes back keeps the instance alive.
    func endWait() {
        let ends = waiters.withLock { waiters in
            waiters.hasWaitEnded = true
            defer { waiters.ends = [] }
            return waiters.ends
        }
        for end in ends { end.resume() }
    }

    /// Whether ``destroyed()`` was called.
    var isDestroyed: Bool { waiters.withLock(\.isDestroyed) }

    /// The plugin's `destroy` returned.
    func destroyed() {
        waiters.withLock { $0.isDestroyed = true }
        endWait()
    }
}
