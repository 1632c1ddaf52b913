// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import CConnector
internal import ConnectorBase
internal import ConnectorInvocation
internal import ConnectorPlatform

/// The `clock/1` service: see services/clock.h.
package enum ClockTable {
    private static let wallTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        unsafe GateServices.at(context)?.wallTime.nanoseconds ?? SystemTime.wall()
    }

    private static let monotonicTime: @convention(c) (UnsafeMutableRawPointer?) -> UInt64 = { context in
        unsafe GateServices.at(context)?.host.clock.now() ?? SystemTime.monotonic()
    }

    private static let startTimer:
        @convention(c) (
            UnsafeMutableRawPointer?, UInt64, TimerCallback.Fire?, UnsafeMutableRawPointer?,
            UnsafeMutablePointer<UInt64>?
        ) -> Int32 = { context, delay, fire, user, timer in
            guard let gate = unsafe GateServices.at(context), let fire = unsafe fire, let timer = unsafe timer else {
                return Int32(CONNECTOR_MISUSE)
            }
            let id = ServiceIdentifier.next()
            unsafe timer.pointee = id
            let callback = unsafe TimerCallback(fire, user: user)
            return gate.timers.start(id, after: delay, { callback.call() }, deliver: gate.deliver)
        }

    private static let cancelTimer: @convention(c) (UnsafeMutableRawPointer?, UInt64) -> Int32 = { context, timer in
        guard let gate = unsafe GateServices.at(context) else { return Int32(CONNECTOR_MISUSE) }
        return gate.timers.cancel(timer)
    }

    /// The table for one gate.
    package static func table(context: UnsafeMutableRawPointer) -> connector_clock {
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
