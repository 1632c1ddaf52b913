// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Exponential backoff: each wait between attempts is a multiple of the one before, up to a limit.
package struct Backoff: Sendable, Hashable {
    /// The wait after the first failure; zero or less means no waits.
    package var initial: Duration
    /// The longest wait.
    package var maximum: Duration
    /// The ratio of each wait to the one before. Any value is safe: NaN or a value that overflows yields the maximum.
    package var factor: Double

    /// Creates a backoff that doubles the wait each time by default.
    package init(initial: Duration, maximum: Duration, factor: Double = 2) {
        self.initial = initial
        self.maximum = maximum
        self.factor = factor
    }

    /// The wait after a number of consecutive failures; fewer than one count as one. For jitter, draw a wait between
    /// zero and this.
    package func bound(after failures: Int) -> Duration {
        guard initial > .zero else { return .zero }
        let steps = max(failures, 1) - 1
        guard factor == 2 else {
            // Compute in floating point and compare before converting to a duration: a huge, infinite or NaN factor
            // ends at the maximum instead of overflowing.
            let seconds = (initial / .seconds(1)) * power(steps)
            return seconds < maximum / .seconds(1) ? .seconds(max(seconds, 0)) : maximum
        }
        // Doubling is exact, and stops at the maximum long before it overflows.
        var bound = initial
        for _ in 0..<min(steps, 128) where bound < maximum { bound += bound }
        return min(bound, maximum)
    }

    /// Raises the factor to an exponent by repeated squaring.
    private func power(_ exponent: Int) -> Double {
        var (result, square, rest) = (1.0, factor, exponent)
        while rest > 0 {
            if rest & 1 == 1 { result *= square }
            square *= square
            rest >>= 1
        }
        return result
    }
}
