// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The clock of a plugin whose manifest does not name `clock/1`.
public struct SystemClock: ClockService {
    /// Creates a clock.
    public init() {}

    /// The system's time of day.
    public var now: Timestamp { .now }

    /// Nanoseconds on the system's monotonic clock, on which the host measures deadlines.
    public var monotonic: UInt64 { SystemTime.monotonic() }

    /// Suspends the task on the Swift runtime's timers.
    public func sleep(for duration: Duration) async throws(PluginError) {
        do {
            try await Task.sleep(for: duration)
        } catch {
            throw PluginError(.cancelled, "the call was cancelled")
        }
    }
}
