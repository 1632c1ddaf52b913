// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A histogram of durations: counts by bucket, and the sum.
package struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets in seconds, from local calls to calls that time out.
    package static let bounds = [0.000_1, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
    /// The bounds in nanoseconds.
    private static let limits = bounds.map { UInt64($0 * 1e9) }

    /// The number of durations in each bucket; the last bucket is unbounded.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// The sum of all durations, in nanoseconds.
    package private(set) var sum: UInt64 = 0

    /// Creates an empty histogram.
    package init() {}

    /// The number of durations.
    package var count: UInt64 { counts.reduce(0, +) }

    /// Adds a duration.
    package mutating func record(_ nanoseconds: UInt64) {
        counts[Self.limits.firstIndex { nanoseconds <= $0 } ?? Self.limits.count] += 1
        sum = sum.addingReportingOverflow(nanoseconds).partialValue
    }

    /// Adds another histogram.
    package mutating func add(_ other: DurationHistogram) {
        for index in counts.indices {
            counts[index] = counts[index].addingReportingOverflow(other.counts[index]).partialValue
        }
        sum = sum.addingReportingOverflow(other.sum).partialValue
    }

    /// The difference from an earlier histogram.
    package func since(_ earlier: DurationHistogram) -> DurationHistogram {
        var difference = DurationHistogram()
        for index in counts.indices {
            difference.counts[index] = counts[index] - min(earlier.counts[index], counts[index])
        }
        difference.sum = sum - min(earlier.sum, sum)
        return difference
    }

    /// The quantile of the durations in seconds, interpolated linearly within a bucket; nil if the histogram is empty.
    package func quantile(_ share: Double) -> Double? {
        let count = self.count
        guard count > 0 else { return nil }
        let rank = share * Double(count)
        var below = 0.0
        for (index, number) in counts.enumerated() where number > 0 {
            guard below + Double(number) >= rank else {
                below += Double(number)
                continue
            }
            // The last bucket has no upper bound to interpolate to.
            guard index < Self.bounds.count else { break }
            let lower = index == 0 ? 0 : Self.bounds[index - 1]
            return lower + (Self.bounds[index] - lower) * max(0, rank - below) / Double(number)
        }
        return Self.bounds.last
    }
}
