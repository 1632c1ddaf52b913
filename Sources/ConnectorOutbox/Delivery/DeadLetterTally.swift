// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The events that have become dead letters since they were last announced, by connector.
///
/// Each connector is announced at most once a minute, so that a vendor that refuses everything does not fill the log.
struct DeadLetterTally: Sendable {
    /// What became of the events of one connector.
    struct Announcement: Sendable {
        var path: String
        /// How many events have become dead letters.
        var count: Int
        /// Why the last of them did.
        var failure: DeliveryFailure
    }

    /// The shortest time between two announcements of one connector, in nanoseconds.
    static let interval: UInt64 = 60_000_000_000

    private var pending: [String: Announcement] = [:]
    /// When each connector that was announced may be announced again, by the monotonic clock.
    private var quietUntil: [String: UInt64] = [:]

    /// Counts events that have become dead letters.
    mutating func note(_ count: Int, of path: String, _ failure: DeliveryFailure) {
        pending[path, default: Announcement(path: path, count: 0, failure: failure)].count += count
        pending[path]?.failure = failure
    }

    /// Takes what may be announced at a time; nil for all there is.
    mutating func take(at now: UInt64?) -> [Announcement] {
        guard !pending.isEmpty else { return [] }
        let due = pending.values.filter { one in now.map { $0 >= quietUntil[one.path] ?? 0 } ?? true }
        for one in due {
            pending[one.path] = nil
            quietUntil[one.path] = now?.saturatingAdding(Self.interval)
        }
        return due.sorted { $0.path < $1.path }
    }
}
