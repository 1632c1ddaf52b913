// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorPlatform
internal import Synchronization

/// The timers of a plugin instance, as services/clock.h describes them: `clock/1` of the host, and of a runner. If the runner follows
/// the host's clock, each side has one: the runner's calls the plugin, and the host's tells the runner.
package final class PluginTimers: Sendable {
    private struct Pending {
        /// The timer on the clock; nil while it is being scheduled.
        var timer: HostTimer?
        var fire: @Sendable () -> Void
        /// The trace that the plugin started it in, and in which it fires.
        var trace: TraceContext
    }

    private struct State {
        /// The timers that have not fired, by the id that the plugin knows.
        var pending: [UInt64: Pending] = [:]
        /// The timers that the end has kept from firing, until the plugin cancels them.
        var dropped: Set<UInt64> = []
        var isStopped = false
    }

    private let clock: any HostClock
    private let limit: Int
    private let state = Mutex(State())

    /// Creates a value without timers.
    ///
    /// - Parameter limit: The maximum number of pending timers.
    package init(clock: any HostClock, limit: Int = TimerCallback.limit) {
        self.clock = clock
        self.limit = limit
    }

    /// Schedules a callback into the plugin, or whatever else a timer does.
    ///
    /// - Parameters:
    ///   - id: The id that the plugin knows the timer by; no pending one has it.
    ///   - delay: The delay in nanoseconds.
    ///   - fire: The callback.
    ///   - deliver: Queues the callback among the callbacks into the plugin, on the clock's thread; must not block.
    /// - Returns: The answer of `start_timer`.
    package func start(
        _ id: UInt64,
        after delay: UInt64,
        _ fire: @escaping @Sendable () -> Void,
        deliver: @escaping @Sendable (_ callback: @escaping @Sendable () -> Void) -> Void
    ) -> Int32 {
        guard clock.prepare() else { return Int32(CONNECTOR_UNAVAILABLE) }
        let trace = TraceContext.current
        let refusal = state.withLock { state -> Int32? in
            guard !state.isStopped else { return Int32(CONNECTOR_NOT_OPEN) }
            guard state.pending[id] == nil else { return Int32(CONNECTOR_MISUSE) }
            guard state.pending.count < limit else { return Int32(CONNECTOR_TOO_LARGE) }
            state.pending[id] = Pending(timer: nil, fire: fire, trace: trace)
            return nil
        }
        if let refusal { return refusal }
        let timer = clock.schedule(after: delay) { deliver { self.fire(id) } }
        let isWanted = state.withLock { state in
            guard state.pending[id] != nil else { return false }
            state.pending[id]?.timer = timer
            return true
        }
        // The timer has fired or was cancelled meanwhile, or the end has come.
        if !isWanted { clock.cancel(timer) }
        return Int32(CONNECTOR_OK)
    }

    /// Prevents a timer from firing, even if it is due and waits for its turn.
    ///
    /// - Returns: The answer of `cancel_timer`.
    package func cancel(_ id: UInt64) -> Int32 {
        let (pending, isDropped) = state.withLock { state in
            (state.pending.removeValue(forKey: id), state.dropped.remove(id) != nil)
        }
        guard pending != nil || isDropped else { return Int32(CONNECTOR_UNKNOWN_OPERATION) }
        if let timer = pending?.timer { clock.cancel(timer) }
        return Int32(CONNECTOR_OK)
    }

    /// Whether a timer is pending that may complete an operation.
    package func isWaiting(for operation: UInt64) -> Bool {
        state.withLock { $0.pending.values.contains { $0.trace.mayComplete(operation) } }
    }

    /// Keeps every timer from firing, and refuses new ones. Idempotent.
    package func stop() {
        let timers = state.withLock { state in
            state.isStopped = true
            state.dropped.formUnion(state.pending.keys)
            defer { state.pending = [:] }
            return state.pending.values.compactMap(\.timer)
        }
        for timer in timers { clock.cancel(timer) }
    }

    private func fire(_ id: UInt64) {
        guard let pending = state.withLock({ $0.pending.removeValue(forKey: id) }) else { return }
        pending.trace.run(pending.fire)
    }
}
