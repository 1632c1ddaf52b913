// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How often to try to open a gate before it fails, and the waits between the attempts.
public struct RetryPolicy: Sendable, Hashable {
    /// The number of attempts, including the first.
    public var attempts: Int
    /// The upper bound of the wait before the second attempt; it doubles with each further attempt.
    public var initial: Duration
    /// The maximum of that upper bound.
    public var max: Duration

    /// Creates a policy; by default, three attempts within seconds.
    public init(attempts: Int = 3, initial: Duration = .milliseconds(200), max: Duration = .seconds(5)) {
        self.attempts = attempts
        self.initial = initial
        self.max = max
    }
}
