// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A question for records of one collection: all filters hold, in order, page by page.
///
/// ```json
/// {"where": {"city": "Bern", "age": {"ge": 18, "lt": 65}}, "sort": ["name", "-age"], "limit": 20}
/// ```
public struct DatabaseQuery: Sendable, Hashable {
    /// What must hold of a record; all of them.
    public var filters: [Filter]
    /// By what records are ordered, most important first; empty leaves it to the vendor.
    public var sort: [Order]
    /// How many records a page has at most, 1 to ``limitRange``'s end.
    public var limit: Int
    /// Where the page begins: what the page before said; nil for the first one.
    public var cursor: String?

    /// How many records a page may have.
    public static let limitRange = 1...1000

    /// What must hold of one member.
    public struct Filter: Sendable, Hashable {
        /// The member's name.
        public var field: String
        /// How it compares.
        public var comparison: Comparison
        /// With what: a number, text, boolean or null; an array for ``Comparison/within``.
        public var value: JSONValue

        /// Makes a filter.
        public init(_ field: String, _ comparison: Comparison, _ value: JSONValue) {
            self.field = field
            self.comparison = comparison
            self.value = value
        }
    }

    /// Ways to compare; the raw value is the key in JSON.
    public enum Comparison: String, Sendable, Hashable, CaseIterable {
        /// The same value.
        case equal = "eq"
        /// Another value.
        case notEqual = "ne"
        /// Before the value.
        case less = "lt"
        /// Before the value, or the same.
        case lessOrEqual = "le"
        /// After the value.
        case greater = "gt"
        /// After the value, or the same.
        case greaterOrEqual = "ge"
        /// One of an array's elements.
        case within = "in"
    }

    /// A member to order by.
    public struct Order: Sendable, Hashable {
        /// The member's name.
        public var field: String
        /// Whether the greatest comes first.
        public var isDescending: Bool

        /// Makes an order.
        public init(_ field: String, descending isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }
    }

    /// Makes a query.
    public init(_ filters: [Filter] = [], sort: [Order] = [], limit: Int = 100, cursor: String? = nil) {
        self.filters = filters
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
    }
}
