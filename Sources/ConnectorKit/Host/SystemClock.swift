// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The clock of a plugin whose manifest does not name `clock/1`.
public struct SystemClock: ClockService {
    private static let start = ContinuousClock.now

    /// Creates a clock.
    public init() {}

    /// The system's time of day.
    public var now: Timestamp { .now }

    /// Nanoseconds since the process first read this clock.
    public var monotonic: UInt64 {
        let (seconds, attoseconds) = (ContinuousClock.now - Self.start).components
        return UInt64(max(0, seconds)) &* 1_000_000_000 &+ UInt64(max(0, attoseconds) / 1_000_000_000)
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
