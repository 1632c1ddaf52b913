// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A column, or what arrows lead to in a column of JSON: `name`, `"a name"`, `data->list->0`, `data->>text`.
struct PostgRESTColumn {
    /// The name of the column.
    var name: String
    /// The members and elements on the way, from outside to inside.
    var path: [String] = []
    /// Whether the last arrow, `->>`, makes a text of what it leads to.
    var isText = false

    /// The name in an answer.
    var label: String { path.last ?? name }

    /// The value in a row; null if there is none.
    func value(in row: JSONObject) -> JSONValue {
        let found = path.reduce(row[name] ?? .null) { value, step in
            value[step] ?? Int(step).flatMap { value[$0] } ?? .null
        }
        return isText && found != .null ? .string(Self.text(found)) : found
    }

    /// A value as a text.
    static func text(_ value: JSONValue) -> String { value.string ?? value.serialized() }

    /// The order of two values that are not null: numbers compare as numbers, and all else as text, by code points.
    static func order(_ one: JSONValue, _ other: JSONValue) -> Int {
        one.numericOrder(to: other) ?? ExactText(text(one)).order(to: ExactText(text(other)))
    }
}
