// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorPlatform

/// The statistics of all queues: the engine's last reading, and the changes since.
///
/// The engine numbers its steps and readings (``OutboxReading/revision``), and its responses may arrive out of order. A change that
/// the last reading includes is not counted again; any other is counted, even if it arrived before the reading.
struct StatisticsTracker {
    /// As counted. A delivery may be noted before the arrival of what it delivered; until then the counts are negative.
    private var statistics: [String: QueueStatistics] = [:]
    /// The revision of the last reading.
    private var revision: UInt64 = 0
    /// How many readings are under way.
    private var readings = 0
    /// What was changed since the first of them began.
    private var recent: [(revision: UInt64, target: String, change: Change)] = []

    /// What one step did to the outbox of a connector.
    enum Change {
        /// Events were stored.
        case appended(count: Int, bytes: Int, oldest: Timestamp?)
        /// Events left the queue; what waits now is no older than a moment.
        case settled(delivered: Int, dead: Int, dropped: Int, bytes: Int, oldest: Timestamp?, at: Timestamp)
        /// Events found no room, and were not stored.
        case turnedAway(count: Int)
    }

    /// The statistics of a connector's queue; nil if it never had an event.
    subscript(_ target: String) -> QueueStatistics? {
        guard var queue = statistics[target] else { return nil }
        (queue.queued, queue.bytes) = (max(0, queue.queued), max(0, queue.bytes))
        if queue.queued == 0 { queue.oldest = nil }
        return queue
    }

    /// The connectors that ever had an event.
    var targets: [String] { Array(statistics.keys) }

    /// Records a change.
    mutating func note(_ change: Change, of target: String, revision: UInt64) {
        if readings > 0 { recent.append((revision, target, change)) }
        if revision > self.revision { apply(change, to: target) }
    }

    /// Marks the start of a reading. ``end(_:)`` must follow.
    mutating func begin() {
        readings += 1
    }

    /// Applies a reading, unless a later one came first; nil if it failed.
    mutating func end(_ reading: OutboxReading?) {
        readings -= 1
        if let reading, reading.revision > revision {
            (statistics, revision) = (reading.statistics, reading.revision)
            for (revision, target, change) in recent where revision > self.revision { apply(change, to: target) }
        }
        if readings == 0 { recent = [] }
    }

    private mutating func apply(_ change: Change, to target: String) {
        var queue = statistics[target] ?? QueueStatistics()
        switch change {
        case .appended(let count, let bytes, let oldest):
            queue.queued = queue.queued.saturatingAdding(count)
            queue.bytes = queue.bytes.saturatingAdding(bytes)
            queue.oldest = queue.oldest ?? oldest
        case .settled(let delivered, let dead, let dropped, let bytes, let oldest, let time):
            queue.queued = queue.queued.saturatingAdding(-delivered - dead - dropped)
            queue.bytes = queue.bytes.saturatingAdding(-bytes)
            queue.delivered = queue.delivered.saturatingAdding(delivered)
            queue.dead = queue.dead.saturatingAdding(dead)
            queue.dropped = queue.dropped.saturatingAdding(dropped)
            queue.oldest = queue.queued <= 0 ? nil : oldest ?? queue.oldest
            if delivered > 0 { queue.lastDelivered = time }
        case .turnedAway(let count): queue.dropped = queue.dropped.saturatingAdding(count)
        }
        statistics[target] = queue
    }
}
