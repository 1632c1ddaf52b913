// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Glibc)
    internal import Glibc
    // Whole-module builds compile all files together, and take `timespec` from whichever of the two modules comes
    // first.
    internal import SwiftOverlayShims
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Darwin
#endif

/// The system's clocks, in nanoseconds, the unit of the ABI.
package enum SystemTime {
    /// The time since the machine started; never jumps.
    package static func monotonic() -> UInt64 { read(CLOCK_MONOTONIC) }

    /// The time since 1970-01-01T00:00:00Z; can jump.
    package static func wall() -> UInt64 { read(CLOCK_REALTIME) }

    private static func read(_ clock: clockid_t) -> UInt64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return nanoseconds(seconds: Int(time.tv_sec), Int(time.tv_nsec))
    }

    /// A time in nanoseconds; one before 1970 is that, and one after the last that 64 bits hold, in 2554, is the last.
    static func nanoseconds(seconds: Int, _ fraction: Int) -> UInt64 {
        let (whole, isOverflow) = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return isOverflow ? .max : whole.saturatingAdding(UInt64(clamping: fraction))
    }
}
