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

extension Timestamp {
    /// The system's time of day, which may jump.
    ///
    /// Code that tests control uses its clock instead: `HostClock.wallTime()` in a host, `ClockService.now` in a
    /// plugin.
    public static var now: Timestamp {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return Timestamp(nanoseconds: 0) }
        return Timestamp(nanoseconds: UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec))
    }
}
