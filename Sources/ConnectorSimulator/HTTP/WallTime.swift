// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

#if canImport(Darwin)
    internal import Darwin
#elseif canImport(Musl)
    internal import Musl
#else
    internal import Glibc
#endif

/// A moment as nanoseconds since the Unix epoch, in UTC.
public struct WallTime: Sendable, Hashable, Comparable {
    /// Nanoseconds since 1970-01-01T00:00:00Z; the type reaches from 1678 to 2262.
    public var nanoseconds: Int64

    /// Makes a moment from nanoseconds since the epoch.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Makes a moment from milliseconds since the epoch, clamped to the type's range.
    public init(milliseconds: Int64) {
        let (product, overflows) = milliseconds.multipliedReportingOverflow(by: 1_000_000)
        self.nanoseconds = overflows ? (milliseconds < 0 ? .min : .max) : product
    }

    /// Reads the machine's wall clock.
    public static func now() -> WallTime {
        var time = timespec()
        guard unsafe clock_gettime(CLOCK_REALTIME, &time) == 0 else { return WallTime(nanoseconds: 0) }
        return WallTime(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
    }

    /// Whole milliseconds since the epoch, rounded down.
    public var milliseconds: Int64 {
        Self.divide(nanoseconds, by: 1_000_000).quotient
    }

    /// Whole seconds since the epoch, rounded down.
    public var seconds: Int64 {
        Self.divide(nanoseconds, by: 1_000_000_000).quotient
    }

    /// Orders by time.
    public static func < (one: WallTime, other: WallTime) -> Bool {
        one.nanoseconds < other.nanoseconds
    }

    /// Division that rounds towards minus infinity, so that the remainder is never negative.
    static func divide(_ value: Int64, by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
