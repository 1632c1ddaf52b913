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
        var measurement = ExactText("")
        var conditions: [Condition] = []
        /// The earliest time, inclusive.
        var earliest = Int64.min
        /// The latest time, inclusive.
        var latest = Int64.max
        /// The tags to group by; `nil` for all of them.
        var groups: [ExactText]? = []
        var isDescending = false
        var limit: Int?
        var offset = 0
    }

    case select(Selection)
    case showDatabases
    case showMeasurements
    case showSeries(ExactText?)
    case showTagKeys(ExactText?)
    case showFieldKeys(ExactText?)
    case showTagValues(ExactText?, key: ExactText)
    case showRetentionPolicies(ExactText?)
    case createDatabase(ExactText)
    case dropDatabase(ExactText)
    case dropMeasurement(ExactText)
    /// Accepted without effect, such as statements about users.
    case ignored

    /// Whether the statement changes data, which InfluxDB requires to be sent by `POST`.
    var isWrite: Bool {
        switch self {
        case .createDatabase, .dropDatabase, .dropMeasurement, .ignored: true
        default: false
        }
    }
}
