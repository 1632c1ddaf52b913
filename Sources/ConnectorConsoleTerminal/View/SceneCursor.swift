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
        // The row is gone, so select its successor.
        let old = place
        let next = rows.first { row in
            old.map { ($0.component, $0.row) <= (row.component, row.row) } ?? scene.isList(row)
        }
        select(next ?? rows.last, in: scene)
    }

    /// Moves down by some lines, or up if negative: to other rows, and through a row that is taller than the page.
    ///
    /// The next row is reached however many lines it has; beyond it, no line is skipped.
    mutating func move(by lines: Int, in scene: Scene, _ page: Page, height: Int) {
        let rows = page.rows
        guard var index = rows.firstIndex(where: { $0.place == place }) else {
            return select(rows.first?.place, in: scene)
        }
        let isDown = lines > 0
        var rest = abs(lines)
        var hasMoved = false
        while rest > 0 {
            let row = rows[index].lines
            let hidden = isDown ? row.upperBound - height - top : top - (index == 0 ? 0 : row.lowerBound)
            if hidden > 0 {
                let step = min(hidden, rest)
                top += isDown ? step : -step
                rest -= step
            } else {
                let next = index + (isDown ? 1 : -1)
                guard rows.indices.contains(next) else { break }
                let other = rows[next].lines
                let distance = isDown ? other.upperBound - row.upperBound : row.lowerBound - other.lowerBound
                guard distance <= rest || !hasMoved else { break }
                index = next
                rest -= min(rest, distance)
                reveal(other, isFirst: next == 0, height: height)
            }
            hasMoved = true
        }
        select(rows[index].place, in: scene)
    }

    /// Selects a row.
    mutating func select(_ place: Page.RowIndex?, in scene: Scene) {
        self.place = place
        identity = place.map { (scene.components[$0.component].id, scene.components[$0.component].rows[$0.row].id) }
        isFollowing = place == scene.rowIndices.last
    }

    /// Scrolls by the smallest amount that makes the row visible.
    mutating func scroll(_ page: Page, height: Int) {
        let rows = page.rows
        if let index = rows.firstIndex(where: { $0.place == place }) {
            reveal(rows[index].lines, isFirst: index == 0, height: height)
        }
        top = max(0, min(top, page.lines.count - height))
    }

    /// Scrolls by the smallest amount that makes the lines of a row visible or, if they are too many, shows nothing else.
    private mutating func reveal(_ lines: Range<Int>, isFirst: Bool, height: Int) {
        // The first row also reveals the titles above it.
        let (start, end) = (isFirst ? 0 : lines.lowerBound, lines.upperBound - height)
        top = min(max(top, min(start, end)), max(start, end))
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

    /// Whether a new cursor may start at a row: a row of a tree or table, or any row if there is neither or details come first.
    func isList(_ place: Page.RowIndex) -> Bool {
        let shapes = components.map(\.shape)
        guard shapes.first != .details, shapes.contains(where: { $0 == .tree || $0 == .table }) else { return true }
        return [.tree, .table].contains(shapes[place.component])
    }
}
