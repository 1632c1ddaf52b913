// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A retry policy: the number of attempts, the delay between them, and the errors to retry after.
///
/// Observers see all attempts as one call, with one beginning and the last outcome.
public struct Retry: Sendable {
    /// The maximum number of requests, including the first; values below one count as one.
    public var attempts: Int

    /// The wait before the next attempt.
    public var delay: RetryDelay

    /// Whether to retry after an error.
    public var condition: @Sendable (any Error) -> Bool

    /// Never retries.
    public static let never = Retry(attempts: 1)

    /// Creates a retry policy.
    ///
    /// - Parameters:
    ///   - attempts: The maximum number of requests, including the first; values below one count as one.
    ///   - delay: The wait before the next attempt; none by default.
    ///   - condition: Whether to retry after an error; by default true for every error but `CancellationError`.
    public init(
        attempts: Int,
        delay: RetryDelay = .none,
        if condition: @escaping @Sendable (any Error) -> Bool = { !($0 is CancellationError) }
    ) {
        self.attempts = attempts
        self.delay = delay
        self.condition = condition
    }

    /// Runs `operation` until it succeeds, the policy gives up, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - clock: Measures the delays.
    ///   - operation: One attempt.
    /// - Returns: The result of the successful attempt.
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
                let pause = min(delay.duration(after: failures, error), .longestWait)
                if pause > .zero { try await clock.sleep(for: pause) }
            }
        }
    }
}
