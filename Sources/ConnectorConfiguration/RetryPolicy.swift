// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How many attempts opening a gate has before the gate fails, and the waits between them.
public struct RetryPolicy: Sendable, Hashable {
    /// All attempts, including the first.
    public var attempts: Int
    /// The longest wait before the second attempt; it doubles each time.
    public var initial: Duration
    /// The longest wait of all.
    public var max: Duration

    /// Three attempts within seconds, by default.
    public init(attempts: Int = 3, initial: Duration = .milliseconds(200), max: Duration = .seconds(5)) {
        self.attempts = attempts
        self.initial = initial
        self.max = max
    }
}
