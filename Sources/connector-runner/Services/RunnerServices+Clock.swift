// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// `clock/1`: the time and the timers of this process, or of the host if the instance follows its clock; the host's time of day also if
/// the gate is recorded or replayed.
extension RunnerServices {
    func clockTable(_ context: UnsafeMutableRawPointer) -> connector_clock {
        unsafe connector_clock(
            struct_size: UInt32(MemoryLayout<connector_clock>.size),
            flags: 0,
            context: context,
            wall_ns: fitting(Self.wallTime),
            monotonic_ns: fitting(Self.monotonicTime),
            start_timer: fitting(Self.startTimer),
            cancel_timer: fitting(Self.cancelTimer)
        )
    }

    private static let wallTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        guard let services = unsafe at(context) else { return SystemTime.wall() }
        guard let time = services.description.time else { return services.clock.wallTime().nanoseconds }
        return services.requests.time(.wallTime) ?? time
    }

    private static let monotonicTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        unsafe at(context)?.clock.now() ?? SystemTime.monotonic()
    }

    private static let startTimer:
        @convention(c) (
            UnsafeMutableRawPointer?, UInt64, TimerCallback.Fire?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?
        ) -> Int32 = { context, delay, fire, user, timer in
            guard let services = unsafe at(context), let fire = unsafe fire, let timer = unsafe timer else {
                return Int32(CONNECTOR_MISUSE)
            }
            let id = services.token()
            unsafe timer.pointee = id
            services.tellTimers()
            let callback = unsafe TimerCallback(fire, user: user)
            return services.timers.start(id, after: delay, { callback.call() }, deliver: services.deliver)
        }

    /// Tells the host that the plugin starts timers, once.
    private func tellTimers() {
        let isFirst = state.withLock { state in
            defer { state.hasTimers = true }
            return !state.hasTimers
        }
        if isFirst { send(.hasTimers, MessageWriter()) }
    }

    private static let cancelTimer: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Int32 = { context, id in
        guard let services = unsafe at(context) else { return Int32(CONNECTOR_MISUSE) }
        return services.timers.cancel(id)
    }
}
