// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform
internal import Synchronization

/// The callers that wait for the queues to change: for room, or until nothing is queued.
struct QueueWaiters {
    /// Why a wait ended.
    enum End {
        /// The queues have changed, or the outbox closes.
        case changed
        /// The deadline has passed.
        case expired
        /// The caller's task was cancelled.
        case cancelled
    }

    private var signals: [UInt64: OneShot<End>] = [:]
    private var last: UInt64 = 0

    /// How many callers wait.
    var count: Int { signals.count }

    /// Adds a caller.
    ///
    /// - Returns: Its number, for ``remove(_:)``.
    mutating func add(_ signal: OneShot<End>) -> UInt64 {
        last += 1
        signals[last] = signal
        return last
    }

    /// Removes a caller that has stopped waiting, whatever the reason.
    mutating func remove(_ number: UInt64) { signals[number] = nil }

    /// Removes all callers, to be woken outside of the lock.
    mutating func take() -> TakenSignals {
        defer { signals = [:] }
        return TakenSignals(signals: Array(signals.values))
    }

    /// Callers to wake.
    struct TakenSignals: Sendable {
        fileprivate var signals: [OneShot<End>] = []

        /// None.
        static let none = TakenSignals()

        /// Resumes them.
        func wake() {
            for signal in signals { signal.send(.changed) }
        }
    }
}

extension Outbox {
    /// Waits until the queues change, unless a condition already holds.
    ///
    /// - Parameter deadline: When to stop waiting, by the outbox's clock.
    /// - Returns: Nil if there was no need to wait.
    func waitForChange(by deadline: UInt64 = .max, unless isTrue: (State) -> Bool) async -> QueueWaiters.End? {
        let signal = OneShot<QueueWaiters.End>()
        let number = state.withLock { state -> UInt64? in
            guard !isTrue(state) else { return nil }
            // Another process may be the one that delivers.
            watch(&state)
            return state.waiters.add(signal)
        }
        guard let number else { return nil }
        defer { state.withLock { $0.waiters.remove(number) } }
        return await withTaskCancellationHandler {
            await signal.wait(by: deadline, on: dependencies.clock) ?? .expired
        } onCancel: {
            signal.send(.cancelled)
        }
    }
}
