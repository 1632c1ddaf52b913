// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

extension DatabaseQuery {
    /// The position of a record in the order of a query.
    struct Position: Sendable {
        /// The values of the members that the query sorts by.
        var values: [JSONValue]
        /// The number that orders records with equal members by their creation.
        var number: Int64

        /// The cursor of the page that ends at this position.
        var cursor: String { Base64.encode(JSONValue.array([.integer(number)] + values).utf8()) }
    }

    /// The position of a record.
    func position(of record: DatabaseRecord, number: Int64) -> Position {
        Position(values: sort.map { record.data[$0.field] ?? .null }, number: number)
    }

    /// The position at which the page with a cursor ended, even if that record is gone; nil if the cursor fits no such query.
    func position(of cursor: String) -> Position? {
        guard let bytes = Base64.decode(cursor), let values = (try? JSONValue(parsing: bytes))?.array,
            values.count == sort.count + 1, let number = values[0].integer
        else { return nil }
        return Position(values: Array(values.dropFirst()), number: number)
    }

    /// Whether one position comes before another.
    func isOrdered(_ left: Position, _ right: Position) -> Bool {
        for (order, (first, second)) in zip(sort, zip(left.values, right.values)) {
            if JSONValue.isOrdered(first, second) { return !order.isDescending }
            if JSONValue.isOrdered(second, first) { return order.isDescending }
        }
        return left.number < right.number
    }
}

extension DatabaseQuery.Filter {
    /// Whether a member meets the condition; one that is missing counts as null.
    func accepts(_ member: JSONValue?) -> Bool {
        let member = member ?? .null
        return switch comparison {
        case .equal: JSONValue.isSame(member, value)
        case .notEqual: !JSONValue.isSame(member, value)
        case .less: isComparable(member) && JSONValue.isOrdered(member, value)
        case .lessOrEqual: isComparable(member) && !JSONValue.isOrdered(value, member)
        case .greater: isComparable(member) && JSONValue.isOrdered(value, member)
        case .greaterOrEqual: isComparable(member) && !JSONValue.isOrdered(member, value)
        case .within: value.array?.contains { JSONValue.isSame(member, $0) } ?? false
        }
    }

    /// Checks that a comparison by order has a number or a text to compare with, without which adapters have no order.
    func checkOrder() throws(ConnectorError) {
        switch comparison {
        case .equal, .notEqual, .within: return
        case .less, .lessOrEqual, .greater, .greaterOrEqual:
            guard value.number == nil, value.string == nil else { return }
            throw ConnectorError(
                .unsupported,
                "\(comparison.rawValue) of \"\(field.excerpt)\" compares numbers or texts, not \(value.kind)"
            )
        }
    }

    /// Whether a member and the value are both numbers or both strings, so that they have an order.
    private func isComparable(_ member: JSONValue) -> Bool {
        member.number != nil && value.number != nil || member.string != nil && value.string != nil
    }
}

extension JSONValue {
    /// Whether two values are equal; numbers are equal however they were written.
    fileprivate static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        // A `Double` does not tell large integers apart.
        switch (left, right) {
        case (.integer(let integer), .number(let number)), (.number(let number), .integer(let integer)):
            Int64(exactly: number) == integer
        default: left == right
        }
    }

    /// Whether one value comes before another: null first, then false, true, numbers, strings, and everything else.
    fileprivate static func isOrdered(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return !left && right
        case (.integer(let left), .integer(let right)): return left < right
        case (.number(let left), .number(let right)): return left < right
        case (.integer(let left), .number(let right)): return isLess(left, right)
        case (.number(let left), .integer(let right)): return !isLess(right, left) && Int64(exactly: left) != right
        case (.string(let left), .string(let right)): return ExactText(left) < ExactText(right)
        default: return left.rank < right.rank
        }
    }

    /// Whether an integer is less than a number, exactly.
    private static func isLess(_ integer: Int64, _ number: Double) -> Bool {
        // A number that fits no integer is beyond all of them.
        Int64(exactly: number.rounded(.up)).map { integer < $0 } ?? (number > 0)
    }

    private var rank: Int {
        switch self {
        case .null: 0
        case .bool: 1
        case .integer, .number: 2
        case .string: 3
        case .array, .object: 4
        }
    }
}
