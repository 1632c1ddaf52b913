// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorIsolation
internal import ConnectorPlatform
internal import Synchronization

/// `clock/1`: the time and the timers of this process; the host's time of day if the gate is recorded or replayed.
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
        guard let services = unsafe at(context), let time = services.description.time else { return SystemTime.wall() }
        return services.hostTime ?? time
    }

    /// The time of day that the host shows; nil if it does not say, since it has given the instance up.
    private var hostTime: UInt64? {
        let token = token()
        var message = MessageWriter()
        message.put(token)
        let answer = ask(.wallTime, token, message)
        guard answer.status == Int32(CONNECTOR_OK) else { return nil }
        var value = MessageReader(answer.value)
        return try? value.integer(UInt64.self)
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
            services.tellTimers()
            let callback = unsafe TimerCallback(fire, user: user)
            return services.timers.start(id, after: delay, callback, deliver: services.deliver)
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
