// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How long a failed gate waits before each new attempt. Attempts go on until the gate is closed.
///
/// Each wait is random, up to half of the outage so far, with that bound kept between `initial` and `max`. After an
/// error that is not retryable, the bound is `max`. The wait is never shorter than the vendor's `Retry-After`.
///
/// ``RetryPolicy`` counts the attempts of opening itself; healing begins when those have failed.
public struct HealPolicy: Sendable, Hashable {
    /// The least bound of a wait; the bound of the first wait after a short outage.
    public var initial: Duration
    /// The greatest bound of a wait.
    public var max: Duration

    /// One second to one minute, by default.
    public init(initial: Duration = .seconds(1), max: Duration = .seconds(60)) {
        self.initial = initial
        self.max = max
    }
}
