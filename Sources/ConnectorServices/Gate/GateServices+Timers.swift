// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorInvocation
package import ConnectorPlatform
internal import Synchronization

/// A timer of a plugin that has not fired.
package struct GateTimer: Sendable {
    /// The timer on the host's clock; nil while it is being scheduled.
    package var timer: HostTimer?
    /// The callback to run.
    package var callback: TimerCallback
    /// The trace that the plugin scheduled it in, and in which its callback runs.
    package var trace: TraceContext
}

extension GateServices {
    /// Schedules a callback under an existing id.
    package func startTimer(_ id: UInt64, after delay: UInt64, _ callback: TimerCallback) -> Int32 {
        guard host.clock.prepare() else { return Int32(CONNECTOR_UNAVAILABLE) }
        let trace = TraceContext.current
        let refusal = state.withLock { state -> Int32? in
            guard !state.isStopped else { return Int32(CONNECTOR_NOT_OPEN) }
            guard state.timers.count < TimerCallback.limit else { return Int32(CONNECTOR_TOO_LARGE) }
            state.timers[id] = GateTimer(timer: nil, callback: callback, trace: trace)
            return nil
        }
        if let refusal { return refusal }
        let timer = host.clock.schedule(after: delay) { self.deliver { self.fireTimer(id) } }
        let isWanted = state.withLock { state in
            guard state.timers[id] != nil else { return false }
            state.timers[id]?.timer = timer
            return true
        }
        // The timer has fired meanwhile, or the services have stopped.
        if !isWanted { host.clock.cancel(timer) }
        return Int32(CONNECTOR_OK)
    }

    /// Prevents a timer from firing, even if it is due and waiting for a thread.
    package func cancelTimer(_ id: UInt64) -> Int32 {
        let (timer, isDropped) = state.withLock { state in
            (state.timers.removeValue(forKey: id), state.droppedTimers.remove(id) != nil)
        }
        guard timer != nil || isDropped else { return Int32(CONNECTOR_UNKNOWN_OPERATION) }
        if let timer = timer?.timer { host.clock.cancel(timer) }
        return Int32(CONNECTOR_OK)
    }

    private func fireTimer(_ id: UInt64) {
        guard let timer = state.withLock({ $0.timers.removeValue(forKey: id) }) else { return }
        timer.trace.run { timer.callback.call() }
    }
}
