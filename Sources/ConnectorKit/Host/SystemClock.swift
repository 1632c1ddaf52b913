// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

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

/// The clock of a plugin whose manifest does not name `clock/1`.
public struct SystemClock: ClockService {
    /// Creates a clock.
    public init() {}

    /// The system's time of day.
    public var now: Timestamp { .now }

    /// Nanoseconds on the system's monotonic clock, on which the host measures deadlines.
    public var monotonic: UInt64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(clamping: time.tv_sec) &* 1_000_000_000 &+ UInt64(clamping: time.tv_nsec)
    }

    /// Suspends the task on the Swift runtime's timers.
    public func sleep(for duration: Duration) async throws(PluginError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw PluginError(.cancelled, "the call was cancelled")
        }
    }
}
