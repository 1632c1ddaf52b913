// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Where a record stands in the order in which its engine lists those of one state: `1767225600000000000.7.analytics/segment`.
///
/// It names what never changes of a record, and no number of records before it: whoever asks for what comes after a place misses
/// nothing and sees nothing twice, though records come and go meanwhile, that of the place itself too.
package struct RecordPlace: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// Comes first in the order: when the event was sent, or 0 in engines that list as they store.
    package var time: UInt64
    /// Where the event is stored.
    package var position: UInt64
    /// The connector.
    package var target: String

    /// Takes its parts.
    package init(time: UInt64 = 0, position: UInt64, target: String) {
        self.time = time
        self.position = position
        self.target = target
    }

    /// Reads what ``description`` writes; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 2, omittingEmptySubsequences: false)
        // As many digits always fit.
        guard parts.count == 3, !parts[2].isEmpty, parts.prefix(2).allSatisfy({ $0.utf8.count <= 19 }),
            let time = UInt64(parts[0]), let position = UInt64(parts[1])
        else { return nil }
        self.init(time: time, position: position, target: String(parts[2]))
        guard description == text else { return nil }
    }

    package var description: String { "\(time).\(position).\(target)" }

    package static func < (left: Self, right: Self) -> Bool {
        if (left.time, left.position) != (right.time, right.position) {
            return (left.time, left.position) < (right.time, right.position)
        }
        // By their bytes, as a database compares them.
        return left.target.utf8.lexicographicallyPrecedes(right.target.utf8)
    }
}

extension [OutboxRecord] {
    /// The place to ask for more after; nil if these are fewer than could have been, and so the last ones.
    ///
    /// - Parameter limit: The most that were asked for.
    package func next(limit: Int) -> RecordPlace? {
        count >= limit ? compactMap(\.place).max() : nil
    }
}
