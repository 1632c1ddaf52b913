// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A clock on which time passes faster than plugins run.
package protocol AcceleratedClock: HostClock {
    /// How many seconds pass on it in one second of the system's clock, 1 or more.
    var speed: UInt64 { get }
}

extension HostClock {
    /// How much of the system's time passes in a duration of this clock, both in nanoseconds.
    ///
    /// A plugin's function is judged by the system's time: one that takes a millisecond takes a hundred on a clock that is a hundred
    /// times as fast.
    package func systemTime(of duration: UInt64) -> UInt64 { duration / acceleration }

    /// How much time passes on this clock in a duration of the system's, both in nanoseconds.
    package func duration(ofSystemTime time: UInt64) -> UInt64 {
        let (product, isOver) = time.multipliedReportingOverflow(by: acceleration)
        return isOver ? .max : product
    }

    private var acceleration: UInt64 { max(1, (self as? any AcceleratedClock)?.speed ?? 1) }
}
