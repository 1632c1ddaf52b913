// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How many events a second were delivered within the last minute. The caller supplies the time.
struct DeliveryRate {
    /// The count of each second of the minute, by the second's number modulo 60.
    private var counts: [Int] = Array(repeating: 0, count: seconds)
    /// The last second that was counted.
    private var last: UInt64
    private let start: UInt64

    private static let seconds = 60

    /// Begins at a monotonic time in nanoseconds.
    init(start: UInt64) {
        self.start = start
        last = start / 1_000_000_000
    }

    /// Counts delivered events at a monotonic time.
    mutating func count(_ events: Int, at now: UInt64) {
        let second = max(last, now / 1_000_000_000)
        for passed in (last + 1)..<max(last + 1, min(second, last + UInt64(Self.seconds)) + 1) {
            counts[Int(passed % UInt64(Self.seconds))] = 0
        }
        last = second
        counts[Int(second % UInt64(Self.seconds))] += events
    }

    /// The rate at a monotonic time: of the last minute, or since the start if that is less.
    func perSecond(at now: UInt64) -> Double {
        var rate = self
        rate.count(0, at: now)
        let span = min(Double(Self.seconds), Double(now - min(now, start)) / 1e9)
        return Double(rate.counts.reduce(0, +)) / max(1, span)
    }
}
