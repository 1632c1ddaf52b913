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
        return UInt64(clamping: time.tv_sec) * 1_000_000_000 + UInt64(clamping: time.tv_nsec)
    }
}
