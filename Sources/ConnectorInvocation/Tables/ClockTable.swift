// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
internal import ConnectorBase

/// The `clock/1` service: see services/clock.h.
enum ClockTable {
    private static let wallTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        unsafe ServiceTables.at(context)?.wallTime.nanoseconds ?? SystemTime.wall()
    }

    private static let monotonicTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        unsafe ServiceTables.at(context)?.monotonicTime ?? SystemTime.monotonic()
    }

    private static let startTimer:
        @convention(c) (
            UnsafeMutableRawPointer?, UInt64, TimerCallback.Fire?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?
        ) -> Int32 = { context, delay, fire, user, timer in
            guard let services = unsafe ServiceTables.at(context), let fire = unsafe fire,
                let timer = unsafe timer
            else { return Int32(CONNECTOR_MISUSE) }
            // Tell the plugin the id before the timer can fire.
            let id = services.newIdentifier()
            unsafe timer.pointee = id
            return services.startTimer(id, after: delay, unsafe TimerCallback(fire, user: user))
        }

    private static let cancelTimer: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Int32 = { context, timer in
        unsafe ServiceTables.at(context)?.cancelTimer(timer) ?? Int32(CONNECTOR_MISUSE)
    }

    /// The table for one instance.
    static func table(_ context: UnsafeMutableRawPointer) -> connector_clock {
        unsafe connector_clock(
            struct_size: UInt32(MemoryLayout<connector_clock>.size),
            flags: 0,
            context: context,
            wall_ns: fitting(wallTime),
            monotonic_ns: fitting(monotonicTime),
            start_timer: fitting(startTimer),
            cancel_timer: fitting(cancelTimer)
        )
    }
}
