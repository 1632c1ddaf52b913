// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

extension DatabaseQuery {
    /// Where a record is in the order of a query.
    struct Position: Sendable {
        /// The members that the query sorts by.
        var values: [JSONValue]
        /// Tells apart records whose members are the same: they come as they were created.
        var number: Int64

        /// The text that a page has as its cursor.
        var cursor: String { Base64.encode(JSONValue.array([.integer(number)] + values).utf8()) }
    }

    /// Where a record is.
    func position(of record: DatabaseRecord, number: Int64) -> Position {
        Position(values: sort.map { record.data[$0.field] ?? .null }, number: number)
    }

    /// Where the page of a cursor ended, also if that record is gone; nil if it is of no page of such a query.
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

    /// Whether a member is of the value's kind, so that one of them can come first.
    private func isComparable(_ member: JSONValue) -> Bool {
        member.number != nil && value.number != nil || member.string != nil && value.string != nil
    }
}

extension JSONValue {
    /// Whether two values are the same; numbers are, however they were written.
    fileprivate static func isSame(_ left: JSONValue, _ right: JSONValue) -> Bool {
        if let left = left.number, let right = right.number { return left == right }
        return left == right
    }

    /// Whether one value comes before another: what is missing first, then false and true, numbers, strings, and all else.
    fileprivate static func isOrdered(_ left: JSONValue, _ right: JSONValue) -> Bool {
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return !left && right
        case (.string(let left), .string(let right)): return ExactText(left) < ExactText(right)
        default:
            if let left = left.number, let right = right.number { return left < right }
            return left.rank < right.rank
        }
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
