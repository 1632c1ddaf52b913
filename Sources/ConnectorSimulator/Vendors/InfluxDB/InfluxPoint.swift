// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One point of a series.
struct InfluxPoint: Sendable {
    /// The type of a field; a measurement's field keeps the type of its first value.
    enum FieldKind: String, Sendable {
        case float
        case integer
        case string
        case boolean
    }

    /// A field's value and its type, because JSON does not distinguish `1` from `1i`.
    struct Field: Sendable {
        var kind: FieldKind
        var value: JSONValue
    }

    /// The measurement's name.
    let measurement: ExactText
    /// The tags, by key.
    let tags: [ExactText: ExactText]
    /// The tags in the order of their keys, so that equal series compare equal.
    let series: ExactText
    /// The fields by name, at least one.
    var fields: [ExactText: Field]
    /// Nanoseconds since 1970; `nil` until the time of arrival is set.
    var time: Int64?

    /// Creates a point.
    init(measurement: ExactText, tags: [ExactText: ExactText], fields: [ExactText: Field], time: Int64?) {
        self.measurement = measurement
        self.tags = tags
        let pairs = tags.sorted { $0.key < $1.key }.map { "\($0.key.text)=\($0.value.text)" }
        series = ExactText(pairs.joined(separator: "\u{0}"))
        self.fields = fields
        self.time = time
    }

    /// The measurement and the tags as the line protocol writes them, with backslashes before separators.
    var key: String {
        func escaped(_ text: ExactText, _ separators: String) -> String {
            var escaped = String.UnicodeScalarView()
            for scalar in text.text.unicodeScalars {
                if separators.unicodeScalars.contains(scalar) { escaped.append("\\") }
                escaped.append(scalar)
            }
            return String(escaped)
        }
        return tags.sorted { $0.key < $1.key }.reduce(escaped(measurement, ", ")) { key, tag in
            "\(key),\(escaped(tag.key, ",= "))=\(escaped(tag.value, ",= "))"
        }
    }
}
