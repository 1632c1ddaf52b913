// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How often a failing request is tried again, after which delay, and for which errors.
///
/// The attempts of one call are one call to its observers: they see one beginning and the last outcome.
public struct Retry: Sendable {
    /// How many requests are made at most, the first included; values below one count as one.
    public var attempts: Int

    /// How long to wait before the next attempt.
    public var delay: RetryDelay

    /// Whether an error is worth another attempt.
    public var condition: @Sendable (any Error) -> Bool

    /// Never tries again.
    public static let never = Retry(attempts: 1)

    /// Describes how to retry.
    ///
    /// - Parameters:
    ///   - attempts: How many requests are made at most, the first included.
    ///   - delay: How long to wait before the next attempt; none by default.
    ///   - condition: Whether an error is worth another attempt; by default every error but `CancellationError` is.
    public init(
        attempts: Int,
        delay: RetryDelay = .none,
        if condition: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) }
    ) {
        self.attempts = attempts
        self.delay = delay
        self.condition = condition
    }

    /// Runs `operation` until it succeeds, or fails for good, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - clock: Measures the delays.
    ///   - operation: One attempt.
    /// - Returns: What the successful attempt returned.
    /// - Throws: The error of the last attempt, or `CancellationError` when cancelled before or between attempts.
    func run<Value>(on clock: any Clock<Duration>, _ operation: () async throws -> Value) async throws -> Value {
        var failures = 0
        while true {
            try Task.checkCancellation()
            do {
                return try await operation()
            } catch {
                failures += 1
                guard failures < attempts, !Task.isCancelled, condition(error) else { throw error }
                let pause = delay.duration(after: failures, error)
                if pause > .zero { try await clock.sleep(for: pause) }
            }
        }
    }
}
