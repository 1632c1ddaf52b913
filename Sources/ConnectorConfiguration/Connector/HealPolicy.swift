// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How long a failed gate waits between attempts to reopen. Attempts continue until the gate is closed.
///
/// Each wait is random, with an upper bound of half the outage so far, clamped to the range from `initial` to `max`. After an
/// error that is not retryable, it is between half of `max` and `max`. It is never shorter than the vendor's `Retry-After`.
///
/// ``RetryPolicy`` limits the first attempts to open; healing begins once they have all failed.
public struct HealPolicy: Sendable, Hashable {
    /// The minimum upper bound of a wait, which applies to the first one.
    public var initial: Duration
    /// The maximum upper bound of a wait.
    public var max: Duration

    /// Creates a policy; by default, the bound is between one second and one minute.
    public init(initial: Duration = .seconds(1), max: Duration = .seconds(60)) {
        self.initial = initial
        self.max = max
    }
}
