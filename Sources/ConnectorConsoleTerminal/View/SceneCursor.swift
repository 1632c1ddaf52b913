// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

/// The row of a scene that keys act on, and what of the scene is in sight.
struct SceneCursor {
    /// The first line in sight.
    private(set) var top = 0
    /// The row; nil in a scene without rows.
    private(set) var place: Page.RowPlace?
    private var identity: (component: String, row: String)?
    /// Whether the last row of a log is kept in sight.
    private var isFollowing: Bool?

    /// Finds the row again in what the scene has become.
    mutating func follow(_ scene: Scene) {
        let rows = scene.rowPlaces
        let endsWithLog = scene.components.last?.shape == .log && scene.components.count == 1
        if isFollowing ?? endsWithLog, endsWithLog {
            select(rows.last, in: scene)
            return
        }
        if let identity, let component = scene.components.firstIndex(where: { $0.id == identity.component }),
            let row = scene.components[component].rows.firstIndex(where: { $0.id == identity.row })
        {
            place = Page.RowPlace(component: component, row: row)
            return
        }
        // What was there is gone: its place is taken by what came after.
        let old = place
        let next = rows.first { row in
            old.map { ($0.component, $0.row) <= (row.component, row.row) } ?? scene.isList(row)
        }
        select(next ?? rows.last, in: scene)
    }

    /// Goes some rows down, or up if negative.
    mutating func move(by rows: Int, in scene: Scene) {
        let places = scene.rowPlaces
        guard let place, let index = places.firstIndex(of: place) else { return select(places.first, in: scene) }
        select(places[min(places.count - 1, max(0, index + rows))], in: scene)
    }

    /// Goes to a row.
    mutating func select(_ place: Page.RowPlace?, in scene: Scene) {
        self.place = place
        identity = place.map { (scene.components[$0.component].id, scene.components[$0.component].rows[$0.row].id) }
        isFollowing = place == scene.rowPlaces.last
    }

    /// Scrolls as little as brings the row into sight.
    mutating func scroll(_ page: Page, height: Int) {
        if let lines = place.flatMap({ page.lines(of: $0) }) {
            if lines.upperBound > top + height { top = lines.upperBound - height }
            // A title right above the first row is seen with it.
            let isFirst = page.lines[..<lines.lowerBound].allSatisfy { $0.row == nil }
            top = min(top, isFirst ? 0 : lines.lowerBound)
        }
        top = max(0, min(top, page.lines.count - height))
    }
}

extension Scene {
    /// Every row, from the top.
    var rowPlaces: [Page.RowPlace] {
        components.enumerated().flatMap { component in
            component.element.rows.indices.map { Page.RowPlace(component: component.offset, row: $0) }
        }
    }

    /// A row.
    func row(at place: Page.RowPlace) -> Row { components[place.component].rows[place.row] }

    /// Whether a row is one that somebody looks for: one of a tree or a table, unless there is none.
    func isList(_ place: Page.RowPlace) -> Bool {
        let shapes = components.map(\.shape)
        guard shapes.first != .details, shapes.contains(where: { $0 == .tree || $0 == .table }) else { return true }
        return [.tree, .table].contains(shapes[place.component])
    }
}
