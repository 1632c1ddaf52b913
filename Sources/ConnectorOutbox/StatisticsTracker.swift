// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// The statistics of all queues: the engine's last reading, and the changes since.
///
/// The engine numbers its steps and readings (``OutboxReading/revision``), and its responses may arrive out of order. A change that
/// the last reading includes is not counted again; any other is counted, even if it arrived before the reading.
struct StatisticsTracker {
    /// As counted. A delivery may be noted before the arrival of the events that it delivered; until then the counts
    /// are negative.
    private var statistics: [String: QueueStatistics] = [:]
    /// Of each queue's events that wait and were never tried, none is older than this; none if there may be no such event.
    private var fresh: [String: Timestamp] = [:]
    /// When each queue's oldest event as last read, and those tried since that still wait, were sent; oldest first, and at most
    /// ``retriedLimit``. Later batches may overtake these events.
    private var retried: [String: [Timestamp]] = [:]
    /// The most times that ``retried`` keeps of a queue. An event beyond it counts again from its next attempt.
    private static let retriedLimit = 64
    /// The first reading: what the queues had been through before this process changed anything.
    private(set) var first: [String: QueueStatistics]?
    /// The revision of the last reading.
    private var revision: UInt64 = 0
    /// How many readings are under way.
    private var readings = 0
    /// What was changed since the first of them began, unless the last reading includes it.
    private(set) var recent: [(revision: UInt64, path: String, change: Change)] = []

    /// What one step did to the outbox of a connector.
    enum Change {
        /// Events were stored.
        case appended(count: Int, bytes: Int, oldest: Timestamp?)
        /// A batch was tried, or events were dropped. Of the events that wait and were never tried, none is older than `oldest`;
        /// nil if the last known time remains. After a drop, `oldest` is the time of the oldest event that waits, whether it was
        /// tried or not. `tried` has the times of all events of the batch, `stay` of those that still wait.
        case settled(
            delivered: Int,
            dead: Int,
            dropped: Int,
            bytes: Int,
            oldest: Timestamp?,
            tried: [Timestamp] = [],
            stay: [Timestamp] = [],
            at: Timestamp
        )
        /// Events found no room, and were not stored.
        case turnedAway(count: Int)
    }

    /// The statistics of a connector's queue; nil if it never had an event.
    subscript(_ path: String) -> QueueStatistics? {
        guard var queue = statistics[path] else { return nil }
        (queue.queued, queue.bytes) = (max(0, queue.queued), max(0, queue.bytes))
        if queue.queued == 0 { queue.oldest = nil }
        return queue
    }

    /// The connectors that ever had an event.
    var paths: [String] { Array(statistics.keys) }

    /// Records a change.
    mutating func note(_ change: Change, of path: String, revision: UInt64) {
        if readings > 0 { recent.append((revision, path, change)) }
        if revision > self.revision { apply(change, to: path) }
    }

    /// Marks the start of a reading. ``end(_:)`` must follow.
    mutating func begin() {
        readings += 1
    }

    /// Applies a reading, unless a later one came first; nil if it failed.
    mutating func end(_ reading: OutboxReading?) {
        readings -= 1
        first = first ?? reading?.statistics
        if let reading, reading.revision > revision {
            (statistics, revision) = (reading.statistics, reading.revision)
            fresh = reading.statistics.compactMapValues(\.oldest)
            retried = fresh.mapValues { [$0] }
            // No reading that is under way takes effect unless it is later than this one.
            let last = reading.revision
            recent.removeAll { $0.revision <= last }
            for (_, path, change) in recent { apply(change, to: path) }
        }
        if readings == 0 { recent = [] }
    }

    private mutating func apply(_ change: Change, to path: String) {
        var queue = statistics[path] ?? QueueStatistics()
        switch change {
        case .appended(let count, let bytes, let oldest):
            queue.queued = queue.queued.saturatingAdding(count)
            queue.bytes = queue.bytes.saturatingAdding(bytes)
            queue.oldest = queue.oldest ?? oldest
            fresh[path] = fresh[path] ?? oldest
            // The delivery of these events was noted before.
            if queue.queued <= 0 { (queue.oldest, fresh[path]) = (nil, nil) }
        case .settled(let delivered, let dead, let dropped, let bytes, let oldest, let tried, let stay, let time):
            queue.queued = queue.queued.saturatingAdding(-delivered - dead - dropped)
            queue.bytes = queue.bytes.saturatingAdding(-bytes)
            queue.delivered = queue.delivered.saturatingAdding(delivered)
            queue.dead = queue.dead.saturatingAdding(dead)
            queue.dropped = queue.dropped.saturatingAdding(dropped)
            var overtaken = retried[path] ?? []
            // The times of dropped events are not known, but none of them waits that is older than the oldest.
            if dropped > 0 { overtaken = oldest.map { oldest in [oldest] + overtaken.filter { $0 > oldest } } ?? [] }
            for time in tried where !overtaken.isEmpty {
                if let index = overtaken.firstIndex(of: time) { overtaken.remove(at: index) }
            }
            if !stay.isEmpty { overtaken = (overtaken + stay).sorted() }
            if let oldest { fresh[path] = dropped > 0 ? max(oldest, fresh[path] ?? oldest) : oldest }
            // No event waits that was never tried. The next one that is stored is the oldest of those.
            if queue.queued <= overtaken.count { fresh[path] = nil }
            retried[path] = Array(overtaken.prefix(Self.retriedLimit))
            let known = [fresh[path], overtaken.first].compactMap(\.self).min() ?? queue.oldest
            queue.oldest = queue.queued <= 0 ? nil : known
            if delivered > 0 { queue.lastDelivered = time }
        case .turnedAway(let count): queue.dropped = queue.dropped.saturatingAdding(count)
        }
        statistics[path] = queue
    }
}
