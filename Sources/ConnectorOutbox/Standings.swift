// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest
internal import ConnectorPlatform

/// How the outboxes stand: what the engine was last read to hold, and what was changed since.
///
/// The engine numbers what it does (``OutboxReading/turn``), and its answers may come in another order. A change that the
/// last reading holds is not counted again; one that it does not hold is, also if it was heard of first.
struct Standings {
    private var standings: [String: Standing] = [:]
    /// The turn of the last reading.
    private var turn: UInt64 = 0
    /// How many readings are under way.
    private var readings = 0
    /// What was changed since the first of them began.
    private var recent: [(turn: UInt64, target: String, change: Change)] = []

    /// What one step did to the outbox of a connector.
    enum Change {
        /// Events were stored.
        case appended(count: Int, bytes: Int, oldest: Timestamp?)
        /// Events left the queue; what waits now is no older than a moment.
        case settled(delivered: Int, dead: Int, dropped: Int, bytes: Int, oldest: Timestamp?, at: Timestamp)
        /// Events found no room, and were not stored.
        case turnedAway(count: Int)
    }

    /// How a connector's outbox stands; nil if it never had an event.
    subscript(_ target: String) -> Standing? { standings[target] }

    /// The connectors that ever had an event.
    var targets: [String] { Array(standings.keys) }

    /// Takes note of a change.
    mutating func note(_ change: Change, of target: String, turn: UInt64) {
        if readings > 0 { recent.append((turn, target, change)) }
        if turn > self.turn { apply(change, to: target) }
    }

    /// Tells that a reading begins. ``end(_:)`` must follow.
    mutating func begin() {
        readings += 1
    }

    /// Takes on a reading, unless a later one came first; nil if it failed.
    mutating func end(_ reading: OutboxReading?) {
        readings -= 1
        if let reading, reading.turn > turn {
            (standings, turn) = (reading.standings, reading.turn)
            for (turn, target, change) in recent where turn > self.turn { apply(change, to: target) }
        }
        if readings == 0 { recent = [] }
    }

    private mutating func apply(_ change: Change, to target: String) {
        var standing = standings[target] ?? Standing()
        switch change {
        case .appended(let count, let bytes, let oldest):
            standing.queued += count
            standing.bytes += bytes
            standing.oldest = standing.oldest ?? oldest
        case .settled(let delivered, let dead, let dropped, let bytes, let oldest, let time):
            standing.queued = max(0, standing.queued - delivered - dead - dropped)
            standing.bytes = max(0, standing.bytes - bytes)
            standing.delivered += delivered
            standing.dead += dead
            standing.dropped += dropped
            standing.oldest = standing.queued == 0 ? nil : oldest ?? standing.oldest
            if delivered > 0 { standing.lastDelivered = time }
        case .turnedAway(let count): standing.dropped += count
        }
        standings[target] = standing
    }
}
