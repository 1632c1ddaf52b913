// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The position of a record in its engine's list of one state: `1767225600000000000.7.analytics/segment`.
///
/// It consists of what never changes about a record, not of the number of records before it. So paging neither skips
/// nor repeats a record, even if records come and go between two pages, including the record of the cursor.
package struct RecordCursor: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The first key of the order: when the event was sent, or 0 in engines that list events in the order in which they
    /// were stored.
    package var time: UInt64
    /// Where the event is stored.
    package var position: UInt64
    /// The connector.
    package var path: String

    /// Creates the cursor of a record.
    package init(time: UInt64 = 0, position: UInt64, path: String) {
        self.time = time
        self.position = position
        self.path = path
    }

    /// Reads what ``description`` writes; nil for anything else.
    package init?(_ text: String) {
        let parts = text.split(ascii: ".", maxSplits: 2, omittingEmptySubsequences: false)
        // Numbers of up to 19 digits always fit.
        guard parts.count == 3, !parts[2].isEmpty, parts.prefix(2).allSatisfy({ $0.utf8.count <= 19 }),
            let time = UInt64(parts[0]), let position = UInt64(parts[1])
        else { return nil }
        self.init(time: time, position: position, path: String(parts[2]))
        guard description == text else { return nil }
    }

    package var description: String { "\(time).\(position).\(path)" }

    package static func < (left: Self, right: Self) -> Bool {
        if (left.time, left.position) != (right.time, right.position) {
            return (left.time, left.position) < (right.time, right.position)
        }
        // Compare the bytes, as a database does.
        return left.path.utf8.lexicographicallyPrecedes(right.path.utf8)
    }
}

extension [OutboxRecord] {
    /// The cursor of the next page; nil if this page is not full and therefore the last one.
    ///
    /// - Parameter limit: The most that were asked for.
    package func next(limit: Int) -> RecordCursor? {
        count >= limit ? compactMap(\.cursor).max() : nil
    }
}
