// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// Lets each client do so many things at once, and so many a second after that.
///
/// What it remembers is bounded: clients beyond the first thousand share one count until others have been quiet for long enough to be
/// forgotten.
final class RateLimit: Sendable {
    private struct Bucket {
        var left: Double
        var last: UInt64
    }

    private struct State {
        var buckets: [String: Bucket] = [:]
        /// When those that were quiet were last forgotten.
        var swept: UInt64?
    }

    private let perSecond: Double
    private let burst: Double
    private let state = Mutex(State())

    /// The most clients that are counted apart.
    static let clientLimit = 1024
    /// The name under which further clients are counted.
    private static let others = "others"

    /// Begins with a full burst for everyone.
    init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// How many clients are counted apart.
    var clientCount: Int { state.withLock(\.buckets.count) }

    /// Counts one thing.
    ///
    /// - Parameters:
    ///   - client: Who does it.
    ///   - now: The monotonic time in nanoseconds.
    /// - Returns: Whether it may happen.
    func take(_ client: String, at now: UInt64) -> Bool {
        state.withLock { state in
            let key = state.buckets[client] != nil || makeRoom(in: &state, now) ? client : Self.others
            var bucket = state.buckets[key] ?? Bucket(left: burst, last: now)
            bucket.left = left(in: bucket, now)
            bucket.last = now
            let isAllowed = bucket.left >= 1
            if isAllowed { bucket.left -= 1 }
            state.buckets[key] = bucket
            return isAllowed
        }
    }

    private func left(in bucket: Bucket, _ now: UInt64) -> Double {
        let passed = now > bucket.last ? now - bucket.last : 0
        return min(burst, bucket.left + Double(passed) / 1e9 * perSecond)
    }

    /// Forgets clients that may do everything again, at most once a second.
    ///
    /// - Returns: Whether one more can be counted apart.
    private func makeRoom(in state: inout State, _ now: UInt64) -> Bool {
        guard state.buckets.count >= Self.clientLimit else { return true }
        if let swept = state.swept, now < swept || now - swept < 1_000_000_000 { return false }
        state.swept = now
        state.buckets = state.buckets.filter { left(in: $0.value, now) < burst }
        return state.buckets.count < Self.clientLimit
    }
}
