// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// `clock/1`: the time and the timers of this process.
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
        unsafe at(context)?.description.time ?? SystemTime.wall()
    }
    private static let monotonicTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { _ in
        SystemTime.monotonic()
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
            let callback = unsafe TimerCallback(fire, user: user)
            guard services.environment.clock.prepare() else { return Int32(CONNECTOR_UNAVAILABLE) }
            let trace = TraceContext.current
            return services.state.withLock { state in
                guard !state.isStopped else { return Int32(CONNECTOR_NOT_OPEN) }
                guard state.timers.count < TimerCallback.limit else { return Int32(CONNECTOR_TOO_LARGE) }
                state.timers[id] = services.environment.clock.schedule(after: delay) {
                    // Until its turn it may be cancelled, or the plugin destroyed.
                    services.deliver {
                        let isDue = services.state.withLock { $0.timers.removeValue(forKey: id) != nil }
                        if isDue { trace.run { callback.call() } }
                    }
                }
                return Int32(CONNECTOR_OK)
            }
        }

    private static let cancelTimer: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Int32 = { context, id in
        guard let services = unsafe at(context) else { return Int32(CONNECTOR_MISUSE) }
        let (timer, isDropped) = services.state.withLock { state in
            (state.timers.removeValue(forKey: id), state.droppedTimers.remove(id) != nil)
        }
        guard timer != nil || isDropped else { return Int32(CONNECTOR_UNKNOWN_OPERATION) }
        if let timer { services.environment.clock.cancel(timer) }
        return Int32(CONNECTOR_OK)
    }
}
