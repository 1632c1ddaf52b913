// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorCapabilities

extension DatabaseQuery {
    /// Records in the order of the query; those that it does not tell apart stay as they are.
    func sorted(_ records: [DatabaseRecord]) -> [DatabaseRecord] {
        records.enumerated().sorted { left, right in
            for order in sort {
                let (first, second) = (left.element.data[order.field], right.element.data[order.field])
                if JSONValue.isOrdered(first, second) { return !order.isDescending }
                if JSONValue.isOrdered(second, first) { return order.isDescending }
            }
            return left.offset < right.offset
        }.map(\.element)
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
    fileprivate static func isOrdered(_ left: JSONValue?, _ right: JSONValue?) -> Bool {
        let (left, right) = (left ?? .null, right ?? .null)
        switch (left, right) {
        case (.bool(let left), .bool(let right)): return !left && right
        case (.string(let left), .string(let right)): return left < right
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
