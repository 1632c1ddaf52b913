// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorManifest

/// What a component of a plugin's scene shows: the texts of its rows, bounded, and whether they are there.
package struct PluginFeed: Sendable {
    /// Whether the rows are there.
    package var state: ViewState
    /// The cells of each row.
    package var rows: [[String]]
    /// How many earlier rows were dropped.
    package var dropped = 0

    /// The greatest number of rows.
    package static let rowLimit = 200
    /// The greatest number of characters of a cell.
    package static let cellLimit = 300

    /// Nothing yet.
    package static let loading = PluginFeed(state: .loading, rows: [])

    /// The cells of an answer's or a payload's rows.
    package static func rows(of value: JSONValue, _ component: ManifestScene.Component) -> [[String]] {
        guard let found = value.member(component.rows) else { return [] }
        let rows = found.array?.suffix(rowLimit) ?? (found == .null ? [] : [found])
        return rows.map { row in
            guard !component.columns.isEmpty else { return [row.cell] }
            return component.columns.map { row.member($0.value)?.cell ?? "" }
        }
    }
}

extension JSONValue {
    /// The value that names of members lead to; nil if there is none.
    fileprivate func member(_ names: [String]) -> JSONValue? {
        names.reduce(self) { value, name in value?.object?[name] }
    }

    /// The value as the text of a cell.
    fileprivate var cell: String {
        (self == .null ? "" : string ?? serialized()).excerpt(of: PluginFeed.cellLimit)
    }
}
