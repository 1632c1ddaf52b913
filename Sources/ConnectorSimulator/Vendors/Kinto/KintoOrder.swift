// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The order of JSON values in Kinto: null, string, number, boolean, array, object, and absent values last.
enum KintoOrder {
    /// Negative if `one` comes first, positive if `other` does, zero if they are equal; `nil` means absent.
    static func compare(_ one: JSONValue?, _ other: JSONValue?) -> Int {
        let ranks = (rank(of: one), rank(of: other))
        guard ranks.0 == ranks.1 else { return ranks.0.order(to: ranks.1) }
        switch (one, other) {
        case (.string(let left)?, .string(let right)?): return ExactText(left).order(to: ExactText(right))
        case (.bool(let left)?, .bool(let right)?): return (left ? 1 : 0).order(to: right ? 1 : 0)
        case (.array(let left)?, .array(let right)?):
            for (left, right) in zip(left, right) {
                let result = compare(left, right)
                if result != 0 { return result }
            }
            return left.count.order(to: right.count)
        case (let left?, let right?): return left.numericOrder(to: right) ?? 0
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
}
