// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The order of JSON values in Kinto: null, string, number, boolean, array, object, and absent values last.
enum KintoOrder {
    /// Negative if `one` comes first, positive if `other` does, zero if they are equal; `nil` means absent.
    static func compare(_ one: JSONValue?, _ other: JSONValue?) -> Int {
        let ranks = (rank(of: one), rank(of: other))
        guard ranks.0 == ranks.1 else { return ranks.0 < ranks.1 ? -1 : 1 }
        switch (one, other) {
        case (.string(let left)?, .string(let right)?): return order(ExactText(left), ExactText(right))
        case (.bool(let left)?, .bool(let right)?): return order(left ? 1 : 0, right ? 1 : 0)
        case (.integer(let left)?, .integer(let right)?): return order(left, right)
        case (.array(let left)?, .array(let right)?):
            for (left, right) in zip(left, right) {
                let result = compare(left, right)
                if result != 0 { return result }
            }
            return order(left.count, right.count)
        case (let left?, let right?):
            guard let left = left.number, let right = right.number else { return 0 }
            return order(left, right)
        default: return 0
        }
    }

    /// The position of a value's type in the order.
    private static func rank(of value: JSONValue?) -> Int {
        switch value {
        case .null?: 0
        case .string?: 1
        case .integer?, .number?: 2
        case .bool?: 3
        case .array?: 4
        case .object?: 5
        case nil: 6
        }
    }

    /// The sign of a comparison.
    private static func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int {
        one < other ? -1 : one > other ? 1 : 0
    }
}
