// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// Gives the events of one delivery distinct times, because a point replaces an earlier one of the same series and
/// time.
struct PointTimes {
    /// The identity of a point: the series, which is the measurement and the type, and the nanoseconds since 1970.
    private struct Slot: Hashable {
        var measurement: String
        var type: AnalyticsEvent.Kind
        var time: UInt64
    }

    private let now: Timestamp
    /// The identifier of the event in each used slot.
    private var holders: [Slot: String] = [:]
    /// The first time after a slot that may be free, so that many simultaneous events need one pass.
    private var next: [Slot: UInt64] = [:]

    /// Creates the times of one delivery; `now` is for events without a timestamp.
    init(now: Timestamp) {
        self.now = now
    }

    /// The time of an event: its timestamp if possible, and the same each time that the same event is given.
    mutating func time(of event: AnalyticsEvent) -> UInt64 {
        // Different names of events may be one measurement.
        let measurement = LineProtocol.measurement(of: event)
        var slot = Slot(measurement: measurement, type: event.type, time: Self.time(event, now: now))
        let start = slot
        while let holder = holders[slot], holder != event.messageId {
            slot.time = max(slot.time, next[start] ?? 0) &+ 1
            next[start] = slot.time
        }
        holders[slot] = event.messageId
        return slot.time
    }

    /// The precisions of timestamps, in nanoseconds: seconds, milliseconds and microseconds.
    private static let units: [UInt64] = [1_000_000_000, 1_000_000, 1000]

    /// Derives the digits below the timestamp's precision from the event's identifier. So an event has the same time in every attempt, and
    /// rarely that of another one of its moment, which may be in another delivery.
    private static func time(_ event: AnalyticsEvent, now: Timestamp) -> UInt64 {
        let nanoseconds = event.timestamp?.nanoseconds ?? now.nanoseconds / 1_000_000 * 1_000_000
        guard let unit = units.first(where: { nanoseconds % $0 == 0 }) else { return nanoseconds }
        return nanoseconds &+ hash(event.messageId) % unit
    }

    /// FNV-1a with the last steps of MurmurHash3: without them, identifiers with successive numbers share too many remainders.
    private static func hash(_ identifier: String) -> UInt64 {
        var hash = identifier.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        for factor in [0xFF51_AFD7_ED55_8CCD, 0xC4CE_B9FE_1A85_EC53] as [UInt64] {
            hash = (hash ^ hash >> 33) &* factor
        }
        return hash ^ hash >> 33
    }
}
