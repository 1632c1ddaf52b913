// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import Synchronization

/// A clock that stands still until a test advances it.
final class ManualClock: Clock, Sendable {
    /// A moment, as the time since the clock was made.
    struct Instant: InstantProtocol {
        /// The time since the clock was made.
        var offset = Duration.zero

        /// The moment a while later.
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        /// How long it is to another moment.
        func duration(to other: Instant) -> Duration { other.offset - offset }
        /// Whether the left moment comes first.
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    /// One task that sleeps.
    private struct Sleeper {
        /// When it wakes up.
        var deadline: Instant
        /// Resumed at the deadline, or with an error when cancelled.
        var continuation: CheckedContinuation<Void, any Error>
    }

    /// The time, the tasks that sleep, and the tests that wait for one to sleep.
    private struct State {
        /// Where the clock stands.
        var now = Instant()
        /// Who sleeps, by number.
        var sleepers: [Int: Sleeper] = [:]
        /// The numbers of those that were cancelled before they slept.
        var cancelled: Set<Int> = []
        /// The last number given out.
        var lastID = 0
        /// Tests that wait for someone to sleep.
        var watchers: [CheckedContinuation<Void, Never>] = []
    }

    /// Held for a few instructions at a time.
    private let state = Mutex(State())

    /// Where the clock stands.
    var now: Instant { state.withLock { $0.now } }
    /// As fine as the tests need.
    var minimumResolution: Duration { .nanoseconds(1) }

    /// Sleeps until a test has advanced the clock to the deadline.
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isCancelled, isDue, watchers) = state.withLock { state in
                    if state.cancelled.remove(id) != nil { return (true, false, [CheckedContinuation<Void, Never>]()) }
                    if deadline <= state.now { return (false, true, []) }
                    state.sleepers[id] = Sleeper(deadline: deadline, continuation: continuation)
                    defer { state.watchers = [] }
                    return (false, false, state.watchers)
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) }
                if isDue { continuation.resume() }
                for watcher in watchers { watcher.resume() }
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                let sleeper = state.sleepers.removeValue(forKey: id)
                if sleeper == nil { state.cancelled.insert(id) }
                return sleeper
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    /// Waits until at least one task sleeps, and returns how long the first to wake has to go.
    @discardableResult
    func sleeper() async -> Duration {
        while true {
            let remaining = state.withLock { state in
                state.sleepers.values.map(\.deadline).min().map { state.now.duration(to: $0) }
            }
            if let remaining { return remaining }
            await withCheckedContinuation { continuation in
                let isPresent = state.withLock { state in
                    if state.sleepers.isEmpty { state.watchers.append(continuation) }
                    return !state.sleepers.isEmpty
                }
                if isPresent { continuation.resume() }
            }
        }
    }

    /// Moves the time on and wakes who is due.
    func advance(by duration: Duration) {
        let due = state.withLock { state in
            state.now = state.now.advanced(by: duration)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for id in due.keys { state.sleepers[id] = nil }
            return due.values.map(\.continuation)
        }
        for continuation in due { continuation.resume() }
    }
}
