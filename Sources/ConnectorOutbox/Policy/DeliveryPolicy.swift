// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// How the events of one connector are queued and delivered.
public struct DeliveryPolicy: Sendable, Hashable {
    /// The most events in one batch; nil for what the adapter's manifest says.
    public var batchCount: Int?
    /// The most bytes of payloads in one batch; nil for what the adapter's manifest says.
    public var batchBytes: Int?
    /// How long an event waits for others to share its batch.
    public var batchAge: Duration = .zero
    /// The age at which a waiting event becomes a dead letter; nil for never.
    public var maximumAge: Duration?
    /// The most bytes of payloads that may wait; nil for no limit but the disk's.
    public var maximumBytes: Int?
    /// What happens to an event that finds the outbox full.
    public var whenFull: WhenFull = .block
    /// The most events a second that the vendor is to take, and the most in one batch, but at least one; nil for no limit.
    public var pace: Double?
    /// The longest wait after the first failure; it doubles with each further one.
    public var initialWait: Duration = .seconds(1)
    /// The longest wait after any failure, unless the vendor asks for a longer one.
    public var longestWait: Duration = .seconds(60)
    /// How long one delivery may take, in nanoseconds.
    package static let callTimeout: UInt64 = 30_000_000_000
    /// The longest wait that a vendor gets by asking for it: a server whose clock is wrong may ask for years.
    static let longestAskedWait = Duration.nanoseconds(Int64(ConnectorError.longestRetryAfter))

    /// What happens to an event that finds the outbox full.
    public enum WhenFull: String, Sendable, Hashable, CaseIterable {
        /// Its caller waits until there is room.
        case block
        /// The oldest waiting events are dropped, counted and reported.
        case dropOldest
        /// It is dropped itself, counted and reported; the other connectors still get it.
        case dropNewest
    }

    /// Creates a policy with the defaults.
    public init() {}

    /// The limits of a batch. It has no more events than the pace allows in a second, or one.
    ///
    /// - Parameter manifest: What the adapter's manifest says.
    package func limits(_ manifest: BatchLimits) -> BatchLimits {
        let paced: Int = pace.flatMap { $0 > 0 ? Int(min($0, 1e9)) : nil } ?? .max
        return BatchLimits(
            count: min(batchCount ?? manifest.count, manifest.count, max(1, paced)),
            bytes: min(batchBytes ?? manifest.bytes, manifest.bytes)
        )
    }

    /// The bound of the queue; nil for none but the disk's.
    package var queueBound: QueueBound? { maximumBytes.map { QueueBound(bytes: $0, whenFull: whenFull) } }

    /// The time that the pace gives to some events, in nanoseconds; 0 without one.
    func span(of count: Int) -> UInt64 {
        guard let pace, pace > 0 else { return 0 }
        return UInt64(min(Double(count) / pace * 1e9, 9e18))
    }

    /// The bound of the wait after some failures in a row.
    package func bound(after failures: Int) -> Duration {
        Backoff(initial: initialWait, maximum: longestWait).bound(after: failures)
    }
}
