// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// `clock/1`: the time and the timers of this process, or of the host if the instance follows its clock; the host's time of day also if
/// the gate is recorded or replayed.
extension RunnerServices {
    var wallTime: Timestamp {
        guard let time = description.time else { return clock.wallTime() }
        return Timestamp(nanoseconds: requests.time(.wallTime) ?? time)
    }

    var monotonicTime: UInt64 { clock.now() }

    func startTimer(_ id: UInt64, after delay: UInt64, _ callback: TimerCallback) -> Int32 {
        reportTimers()
        return timers.start(id, after: delay, { callback.call() }, deliver: deliver)
    }

    /// Tells the host that the plugin starts timers, once.
    private func reportTimers() {
        let isFirst = state.withLock { state in
            defer { state.hasTimers = true }
            return !state.hasTimers
        }
        if isFirst { send(.hasTimers, MessageWriter()) }
    }

    func cancelTimer(_ id: UInt64) -> Int32 { timers.cancel(id) }
}
