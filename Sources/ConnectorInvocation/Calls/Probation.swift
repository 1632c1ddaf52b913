// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Whether a function that its manifest declares prompt has to run on threads of the host, and for how long.
///
/// One slow call begins a probation, and a number of quick ones in a row ends it: a busy machine may stop any thread for some
/// milliseconds, whatever the function does. Each further probation takes twice as many, so that a function that does wait now and
/// then hardly ever holds its caller's thread.
///
/// Concurrent calls may miscount: a probation then lasts a few calls more or fewer, which has no other effect.
package struct Probation: ~Copyable, Sendable {
    /// How many quick calls end the first probation.
    package static let firstLength: UInt64 = 100
    /// How often the length doubles.
    private static let doublings: UInt64 = 20

    /// How many quick calls are still to come; 0 without a probation.
    private let remaining = Atomic<UInt64>(0)
    /// The number of probations so far.
    private let count = Atomic<UInt64>(0)

    /// Whether the function has to run on threads.
    @inline(__always)
    package var isOn: Bool { remaining.load(ordering: .relaxed) > 0 }

    /// Begins a probation, unless there is one.
    ///
    /// - Returns: How many quick calls end it; nil if there was one already.
    package func begin() -> UInt64? {
        let length = Self.firstLength << min(count.load(ordering: .relaxed), Self.doublings)
        guard remaining.compareExchange(expected: 0, desired: length, ordering: .relaxed).exchanged else { return nil }
        count.add(1, ordering: .relaxed)
        return length
    }

    /// Counts a call on a thread. A slow one starts the count over.
    package func count(isQuick: Bool) {
        let left = remaining.load(ordering: .relaxed)
        guard left > 0 else { return }
        let length = Self.firstLength << min(max(count.load(ordering: .relaxed), 1) - 1, Self.doublings)
        _ = remaining.compareExchange(expected: left, desired: isQuick ? left - 1 : length, ordering: .relaxed)
    }
}
