// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// The time and timers (`clock/1`); a host under test may use a manual clock.
public protocol ClockService: Sendable {
    /// The time of day. Can jump.
    var now: Timestamp { get }

    /// Nanoseconds since a fixed moment before the host started. Never jumps; the clock of deadlines.
    var monotonic: UInt64 { get }

    /// Suspends the task for a duration.
    ///
    /// - Throws: A ``PluginError`` of status `cancelled` if the task is cancelled before the time is up.
    func sleep(for duration: Duration) async throws(PluginError)
}
