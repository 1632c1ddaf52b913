// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorPlatform

/// A clock that runs faster than another one, so that no one waits an hour to see what happens in one.
package struct FastClock: AcceleratedClock {
    private let base: any HostClock
    /// How many seconds pass in one second of the other clock.
    package let speed: UInt64
    private let start: UInt64
    private let wallStart: UInt64

    /// Creates a clock that starts at another clock's current time.
    ///
    /// - Parameter speed: How many seconds pass in one second of the other clock, from 1 to 3600.
    package init(_ base: any HostClock = SystemHostClock(), speed: Int) {
        self.base = base
        self.speed = UInt64(min(max(1, speed), 3600))
        start = base.now()
        wallStart = base.wallTime().nanoseconds
    }

    private var elapsed: UInt64 {
        let now = base.now()
        let (product, isOver) = (now - min(start, now)).multipliedReportingOverflow(by: speed)
        return isOver ? .max : product
    }

    /// The other clock's time at the start, plus `speed` times what has passed there since.
    package func now() -> UInt64 { start.saturatingAdding(elapsed) }

    /// The time of day, which passes as fast as ``now()``.
    package func wallTime() -> Timestamp { Timestamp(nanoseconds: wallStart.saturatingAdding(elapsed)) }

    /// Schedules on the other clock; the timer never fires early.
    package func schedule(after delay: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        base.schedule(after: slowed(delay), fire)
    }

    /// Schedules on the other clock; the timer never fires early.
    package func schedule(at deadline: UInt64, _ fire: @escaping @Sendable () -> Void) -> HostTimer {
        base.schedule(at: start.saturatingAdding(slowed(deadline - min(start, deadline))), fire)
    }

    /// How long the other clock takes for a time, rounded up, in nanoseconds.
    private func slowed(_ time: UInt64) -> UInt64 { time / speed + (time % speed == 0 ? 0 : 1) }

    /// Prepares the other clock.
    package func prepare() -> Bool { base.prepare() }

    /// Cancels on the other clock.
    @discardableResult
    package func cancel(_ timer: HostTimer) -> Bool { base.cancel(timer) }
}
