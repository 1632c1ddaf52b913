// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension Comparable {
    /// Negative if this comes before another value, positive if it comes after, zero if they are equal.
    func order(to other: Self) -> Int { self < other ? -1 : self > other ? 1 : 0 }
}

extension JSONValue {
    /// The order of two numbers, exact for integers; nil unless both values are numbers.
    func numericOrder(to other: JSONValue) -> Int? {
        if let one = integer, let two = other.integer { return one.order(to: two) }
        guard let one = number, let two = other.number else { return nil }
        return one.order(to: two)
    }

    /// The number that a text is; nil if it is none.
    static func number(in text: String) -> JSONValue? {
        if let number = Int64(text) { return .integer(number) }
        guard let number = Double(text), number.isFinite else { return nil }
        return .number(number)
    }
}
