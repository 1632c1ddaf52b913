// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The wait between a failed attempt and the next.
public struct RetryDelay: Sendable {
    /// Computes the wait from the number of failures so far, one or more, and the last error.
    private let compute: @Sendable (_ failures: Int, _ error: any Error) -> Duration

    /// Computes each wait from the failures so far.
    ///
    /// Use it to honor a server's `Retry-After`.
    ///
    /// - Parameter compute: Receives the number of failures so far, one or more, and the last error; a result of zero or
    ///   less means no wait.
    public init(_ compute: @escaping @Sendable (_ failures: Int, _ error: any Error) -> Duration) {
        self.compute = compute
    }

    /// No wait.
    public static let none = RetryDelay { _, _ in .zero }

    /// The same wait every time.
    ///
    /// - Parameter duration: The wait, on the call flow's clock.
    /// - Returns: The delay.
    public static func constant(_ duration: Duration) -> RetryDelay {
        RetryDelay { _, _ in duration }
    }

    /// A wait that grows by a factor with every failure, up to a limit.
    ///
    /// - Parameters:
    ///   - initial: The wait after the first failure.
    ///   - factor: The ratio of each wait to the one before; two by default.
    ///   - maximum: The longest wait; one minute by default.
    /// - Returns: The delay.
    public static func exponential(
        _ initial: Duration,
        factor: Double = 2,
        maximum: Duration = .seconds(60)
    ) -> RetryDelay {
        let backoff = Backoff(initial: initial, maximum: maximum, factor: factor)
        return RetryDelay { failures, _ in backoff.bound(after: failures) }
    }

    /// The wait after a failure.
    func duration(after failures: Int, _ error: any Error) -> Duration {
        max(compute(failures, error), .zero)
    }
}
