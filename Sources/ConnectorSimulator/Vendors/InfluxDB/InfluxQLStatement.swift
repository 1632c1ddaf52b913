// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A statement of the supported subset of InfluxQL.
enum InfluxQLStatement: Sendable {
    /// A selected column.
    enum Column: Sendable {
        /// Every field and tag.
        case all
        /// One field or tag, optionally with an alias.
        case field(String, alias: String?)
        /// `count`, `sum`, `mean`, `min`, `max`, `first` or `last` of one field, or of all.
        case aggregate(String, String, alias: String?)
    }

    /// A comparison with a field or a tag.
    struct Condition: Sendable {
        var name: ExactText
        var comparison: String
        var value: JSONValue
    }

    /// A query of points.
    struct Selection: Sendable {
        var columns: [Column] = []
        /// The measurement's retention policy; nil for the default.
        var policy: ExactText?
        var measurement = ExactText("")
        var conditions: [Condition] = []
        /// The earliest time, inclusive.
        var earliest = Int64.min
        /// The latest time, inclusive.
        var latest = Int64.max
        /// The tags to group by; `nil` for all of them.
        var groups: [ExactText]? = []
        /// Whether the latest point comes first.
        var isDescending = false
        /// The rows to return.
        var page = Page()
    }

    /// The rows of an answer to return.
    struct Page: Sendable {
        /// The most rows; nil for all.
        var limit: Int?
        /// The number of rows to skip.
        var offset = 0

        /// The rows of the page.
        func rows<Row>(of all: some Sequence<Row>) -> [Row] { Array(all.dropFirst(offset).prefix(limit ?? .max)) }
    }

    /// Returns points, or results of functions on them.
    case select(Selection)
    /// Lists the databases.
    case showDatabases
    /// Lists the measurements.
    case showMeasurements(Page)
    /// Lists the series of a measurement, or all of them.
    case showSeries(ExactText?, Page)
    /// Lists the tag keys of a measurement, or of each.
    case showTagKeys(ExactText?)
    /// Lists the fields of a measurement, or of each.
    case showFieldKeys(ExactText?)
    /// Lists the values of a tag, in a measurement or in each.
    case showTagValues(ExactText?, key: ExactText)
    /// Lists the retention policies of the database.
    case showRetentionPolicies
    /// Makes a database, unless there is one.
    case createDatabase(ExactText)
    /// Removes a database, if there is one.
    case dropDatabase(ExactText)
    /// Removes a measurement, if there is one.
    case dropMeasurement(ExactText)

    /// Whether the statement changes data, which InfluxDB requires to be sent by `POST`.
    var isWrite: Bool {
        switch self {
        case .createDatabase, .dropDatabase, .dropMeasurement: true
        default: false
        }
    }
}
