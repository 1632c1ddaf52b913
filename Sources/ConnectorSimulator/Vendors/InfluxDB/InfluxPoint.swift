// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One point of a series: what was measured, when, and by whom.
struct InfluxPoint: Sendable {
    /// What kind of value a field holds; a measurement's field keeps the first kind it was written with.
    enum FieldKind: String, Sendable {
        case float
        case integer
        case string
        case boolean
    }

    /// A field's value and its kind, which JSON does not tell apart for `1` and `1i`.
    struct Field: Sendable {
        var kind: FieldKind
        var value: JSONValue
    }

    /// The measurement's name.
    let measurement: String
    /// The tags, by key.
    let tags: [String: String]
    /// The tags in order of their keys, so that equal series compare equal.
    let series: String
    /// At least one.
    var fields: [String: Field]
    /// Nanoseconds since the epoch; `nil` until it is stamped on arrival.
    var time: Int64?

    /// Names a point of a series.
    init(measurement: String, tags: [String: String], fields: [String: Field], time: Int64?) {
        self.measurement = measurement
        self.tags = tags
        self.series = tags.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: "\u{0}")
        self.fields = fields
        self.time = time
    }
}
