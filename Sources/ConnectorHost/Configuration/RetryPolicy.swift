// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How often, and how long apart, opening a gate is tried.
public struct RetryPolicy: Sendable, Hashable {
    /// Attempts in all, the first one included.
    public var attempts: Int
    /// The longest wait before the second attempt; it doubles from one to the next.
    public var initial: Duration
    /// No wait is longer.
    public var max: Duration

    /// Three attempts within seconds, unless told otherwise.
    public init(attempts: Int = 3, initial: Duration = .milliseconds(200), max: Duration = .seconds(5)) {
        self.attempts = attempts
        self.initial = initial
        self.max = max
    }
}
