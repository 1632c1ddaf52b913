// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// The selected row of a scene, and the visible part of the scene.
struct SceneCursor {
    /// The first visible line.
    private(set) var top = 0
    /// The selected row; nil in a scene without rows.
    private(set) var place: Page.RowIndex?
    private var identity: (component: String, row: String)?
    /// Whether the last row of a log is kept selected; nil until a row has been selected.
    private var isFollowing: Bool?

    /// Finds the selected row after the scene has changed.
    mutating func follow(_ scene: Scene) {
        let rows = scene.rowIndices
        let endsWithLog = scene.components.last?.shape == .log && scene.components.count == 1
        if isFollowing ?? endsWithLog, endsWithLog {
            select(rows.last, in: scene)
            return
        }
        if let identity, let component = scene.components.firstIndex(where: { $0.id == identity.component }),
            let row = scene.components[component].rows.firstIndex(where: { $0.id == identity.row })
        {
            place = Page.RowIndex(component: component, row: row)
            return
        }
        // The row was removed: select its successor.
        let old = place
        let next = rows.first { row in
            old.map { ($0.component, $0.row) <= (row.component, row.row) } ?? scene.isList(row)
        }
        select(next ?? rows.last, in: scene)
    }

    /// Moves down by some rows, or up if negative.
    mutating func move(by rows: Int, in scene: Scene) {
        let places = scene.rowIndices
        guard let place, let index = places.firstIndex(of: place) else { return select(places.first, in: scene) }
        select(places[min(places.count - 1, max(0, index + rows))], in: scene)
    }

    /// Selects a row.
    mutating func select(_ place: Page.RowIndex?, in scene: Scene) {
        self.place = place
        identity = place.map { (scene.components[$0.component].id, scene.components[$0.component].rows[$0.row].id) }
        isFollowing = place == scene.rowIndices.last
    }

    /// Scrolls by the smallest amount that makes the row visible.
    mutating func scroll(_ page: Page, height: Int) {
        if let lines = place.flatMap({ page.lines(of: $0) }) {
            if lines.upperBound > top + height { top = lines.upperBound - height }
            // The first row also reveals the titles above it.
            let isFirst = page.lines[..<lines.lowerBound].allSatisfy { $0.row == nil }
            top = min(top, isFirst ? 0 : lines.lowerBound)
        }
        top = max(0, min(top, page.lines.count - height))
    }
}

extension Scene {
    /// Every row, from the top.
    var rowIndices: [Page.RowIndex] {
        components.enumerated().flatMap { component in
            component.element.rows.indices.map { Page.RowIndex(component: component.offset, row: $0) }
        }
    }

    /// A row.
    func row(at place: Page.RowIndex) -> Row { components[place.component].rows[place.row] }

    /// Whether a new cursor may start at a row: at rows of trees and tables, or at any row if there are none of these.
    func isList(_ place: Page.RowIndex) -> Bool {
        let shapes = components.map(\.shape)
        guard shapes.first != .details, shapes.contains(where: { $0 == .tree || $0 == .table }) else { return true }
        return [.tree, .table].contains(shapes[place.component])
    }
}
