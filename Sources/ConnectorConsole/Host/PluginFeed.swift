// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorManifest

/// The contents of a component of a plugin's scene: the texts of its rows, bounded in size, and whether they have arrived.
package struct PluginFeed: Sendable {
    /// Whether the rows have arrived.
    package var state: ViewState
    /// The cells of each row.
    package var rows: [[String]]
    /// The number of the first row of a log; it grows as earlier rows are dropped.
    package var dropped = 0

    /// The maximum number of rows.
    package static let rowLimit = 200
    /// The maximum number of characters of a cell.
    package static let cellLimit = 300

    /// Nothing yet.
    package static let loading = PluginFeed(state: .loading, rows: [])

    /// The cells of each row of an answer or a payload.
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
    /// The value at a path of member names; nil if there is none.
    fileprivate func member(_ names: [String]) -> JSONValue? {
        names.reduce(self) { value, name in value?.object?[name] }
    }

    /// The value as the text of a cell.
    fileprivate var cell: String {
        (self == .null ? "" : string ?? serialized()).excerpt(of: PluginFeed.cellLimit)
    }
}
