// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// A query for the records of one collection that pass every filter, sorted and in pages.
///
/// ```json
/// {"where": {"city": "Bern", "age": {"ge": 18, "lt": 65}}, "sort": ["name", "-age"], "limit": 20}
/// ```
public struct DatabaseQuery: Sendable, Hashable {
    /// The conditions, all of which a record must meet.
    public var filters: [Filter]
    /// The sort order, most significant member first; empty lets the vendor choose.
    public var sort: [Order]
    /// The most records on a page, within ``limitRange``.
    public var limit: Int
    /// The cursor of the previous page; nil for the first page.
    public var cursor: String?

    /// The allowed page sizes.
    public static let limitRange = 1...1000

    /// A condition on one member.
    public struct Filter: Sendable, Hashable {
        /// The member's name.
        public var field: String
        /// The comparison.
        public var comparison: Comparison
        /// The value to compare with: a number, string, boolean or null; an array for ``Comparison/within``.
        public var value: JSONValue

        /// Creates a filter.
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
        /// A different value.
        case notEqual = "ne"
        /// Before the value.
        case less = "lt"
        /// Before the value, or equal.
        case lessOrEqual = "le"
        /// After the value.
        case greater = "gt"
        /// After the value, or equal.
        case greaterOrEqual = "ge"
        /// One of an array's elements.
        case within = "in"
    }

    /// A member to order by.
    public struct Order: Sendable, Hashable {
        /// The member's name.
        public var field: String
        /// Whether the greatest value comes first.
        public var isDescending: Bool

        /// Creates an order.
        public init(_ field: String, descending isDescending: Bool = false) {
            self.field = field
            self.isDescending = isDescending
        }
    }

    /// Creates a query.
    public init(_ filters: [Filter] = [], sort: [Order] = [], limit: Int = 100, cursor: String? = nil) {
        self.filters = filters
        self.sort = sort
        self.limit = limit
        self.cursor = cursor
    }
}
