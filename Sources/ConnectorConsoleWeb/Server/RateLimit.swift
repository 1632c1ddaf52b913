// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import Synchronization

/// A token bucket for each client, which admits a burst and then a constant rate.
///
/// Memory is bounded: clients beyond the first 1024 share one bucket until the buckets of idle clients are removed.
final class RateLimit: Sendable {
    private struct Bucket {
        var tokens: Double
        var last: UInt64
    }

    private struct State {
        var buckets: [String: Bucket] = [:]
        /// When the buckets of idle clients were last removed.
        var swept: UInt64?
    }

    private let perSecond: Double
    private let burst: Double
    private let state = Mutex(State())

    /// The maximum number of clients with a bucket of their own.
    static let clientLimit = 1024
    /// The name of the bucket that further clients share.
    private static let others = "others"

    /// Creates a limit; every client starts with a full bucket.
    ///
    /// - Parameters:
    ///   - perSecond: The rate at which a bucket refills, in requests per second.
    ///   - burst: The size of a bucket, in requests.
    init(perSecond: Double, burst: Double) {
        self.perSecond = perSecond
        self.burst = burst
    }

    /// Takes a token from a client's bucket.
    ///
    /// - Parameters:
    ///   - client: The name of the client.
    ///   - now: The monotonic time in nanoseconds.
    /// - Returns: False if the bucket is empty.
    func take(_ client: String, at now: UInt64) -> Bool {
        state.withLock { state in
            let key = state.buckets[client] != nil || makeRoom(in: &state, now) ? client : Self.others
            var bucket = state.buckets[key] ?? Bucket(tokens: burst, last: now)
            bucket.tokens = tokens(in: bucket, now)
            bucket.last = now
            let isAllowed = bucket.tokens >= 1
            if isAllowed { bucket.tokens -= 1 }
            state.buckets[key] = bucket
            return isAllowed
        }
    }

    private func tokens(in bucket: Bucket, _ now: UInt64) -> Double {
        let elapsed = now > bucket.last ? now - bucket.last : 0
        return min(burst, bucket.tokens + Double(elapsed) / 1e9 * perSecond)
    }

    /// Removes full buckets if there are too many, at most once a second.
    ///
    /// - Returns: Whether there is room for another bucket.
    private func makeRoom(in state: inout State, _ now: UInt64) -> Bool {
        guard state.buckets.count >= Self.clientLimit else { return true }
        if let swept = state.swept, now < swept || now - swept < 1_000_000_000 { return false }
        state.swept = now
        state.buckets = state.buckets.filter { tokens(in: $0.value, now) < burst }
        return state.buckets.count < Self.clientLimit
    }
}
