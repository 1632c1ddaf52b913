// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// The difference between two versions of a page: small operations with new markup, which the page's script applies.
struct PageDifference: Sendable {
    /// The operations, in order.
    private(set) var operations: [JSONValue] = []

    /// Compares two versions of a page.
    ///
    /// - Parameter canAct: Whether the page has buttons for acts.
    init(from old: PageContent, to new: PageContent, canAct: Bool) {
        let view = SceneView(content: new, canAct: canAct)
        if old.isReady != new.isReady || old.gates != new.gates {
            add("replace", "readiness", .string(PageView.readiness(new).text))
        }
        if old.tabs != new.tabs { add("replace", "tabs", .string(PageView.navigation(new).text)) }
        if old.scene.title != new.scene.title { add("title", .string(new.scene.title)) }
        // A search that is being typed stays, even if the list becomes short.
        if new.isSearchable, !old.isSearchable { add("show", "search") }
        if old.scene.commandLine != new.scene.commandLine {
            add("text", "command", .string(new.scene.commandLine ?? ""))
        }
        for transition in new.transitions where !old.transitions.contains(transition) {
            let state = transition.state.rawValue
            add("notify", .string("\(transition.path) is \(state)"), .string(state))
        }
        if new.pages > 1, old.pages == new.pages, old.totals != new.totals {
            add("replace", "pager", .string(view.pager().text))
        }
        let isSame = old.address == new.address && old.totals.count == new.totals.count && old.pages == new.pages
        let changes = isSame ? new.scene.changes(from: old.scene) : [.everything(new.scene)]
        let whole = Self.redrawn(changes, from: old.scene, to: new.scene)
        for component in whole.sorted() {
            add("replace", .string("c\(component)"), .string(view.component(component).text))
        }
        for case .frame(let component, let frame) in changes where !whole.contains(component) {
            add("name", number(component), .string(frame.title))
        }
        for component in Set(changes.compactMap(\.component)).subtracting(whole).sorted() {
            let hidden = SceneView.hiddenColumns(of: new.scene.components[component])
            guard hidden != SceneView.hiddenColumns(of: old.scene.components[component]) else { continue }
            add("columns", number(component), .string(hidden))
        }
        for change in changes where change.component.map({ !whole.contains($0) }) ?? true {
            switch change {
            case .everything:
                add("fill", "scene", .string(view.body().text))
                if canAct { add("fill", "scene-acts", .string(PageView.acts(new.scene).text)) }
            case .acts:
                if canAct { add("fill", "scene-acts", .string(PageView.acts(new.scene).text)) }
            case .frame: break
            case .update(let component, let row, let value):
                update(component, row, to: value, from: old, view)
            case .remove(let component, let rows):
                add("remove", number(component), number(rows.lowerBound), number(rows.count))
            case .insert(let component, let index, let rows):
                let markup = rows.indices.map { view.row(component, index + $0).text }.joined()
                add("insert", number(component), number(index), .string(markup))
            }
        }
    }

    /// The components to redraw as a whole, for example because their frame changed or their column of buttons came or went.
    private static func redrawn(_ changes: [SceneChange], from old: Scene, to new: Scene) -> Set<Int> {
        var redrawn: Set<Int> = []
        for change in changes {
            guard let component = change.component else { continue }
            let (now, before) = (new.components[component], old.components[component])
            if case .frame = change, !now.isRenamed(from: before) { redrawn.insert(component) }
            if now.hasActs != before.hasActs || now.shape == .buttons || now.shape == .tabs {
                redrawn.insert(component)
            }
            // Without contents, only the state is drawn.
            if now.hasContents != before.hasContents, now.state != .loaded { redrawn.insert(component) }
        }
        return redrawn
    }

    /// Adds the changes of a row: single cells of a table if only cells changed, otherwise the whole row.
    private mutating func update(
        _ component: Int,
        _ index: Int,
        to row: Row,
        from old: PageContent,
        _ view: SceneView
    ) {
        let shown = view.content.scene.components[component]
        // The index is one in the new list; the old row is found by its id, since rows may have been added or removed.
        let before = old.scene.components[component].rows.first { $0.id == row.id }
        guard [.tree, .table].contains(shown.shape), let before, before.differsOnlyInCells(from: row) else {
            add("row", number(component), number(index), .string(view.row(component, index).text))
            return
        }
        for cell in row.cells.indices where row.cells[cell] != before.cells[cell] {
            let markup = view.cell(shown, row, cell).text
            add("cell", number(component), number(index), number(cell), .string(markup))
        }
    }

    private mutating func add(_ name: String, _ values: JSONValue...) {
        operations.append(.array([.string(name)] + values))
    }

    private func number(_ value: Int) -> JSONValue { .integer(Int64(value)) }
}

extension Component {
    /// Whether it is a table that differs only in its title, which may count its rows, and in those.
    fileprivate func isRenamed(from old: Component) -> Bool {
        guard [.tree, .table].contains(shape), !title.isEmpty, !old.title.isEmpty else { return false }
        var renamed = old
        (renamed.title, renamed.rows) = (title, rows)
        return renamed == self
    }
}

extension Row {
    /// Whether only the contents of cells differ, and the style of the row is the same.
    fileprivate func differsOnlyInCells(from other: Row) -> Bool {
        cells.count == other.cells.count && depth == other.depth && link == other.link && acts == other.acts
            && cells.first?.spans.first?.style == other.cells.first?.spans.first?.style
    }
}

extension SceneChange {
    /// The component that changed; nil for the whole scene.
    fileprivate var component: Int? {
        switch self {
        case .everything, .acts: nil
        case .frame(let component, _), .update(let component, _, _), .remove(let component, _),
            .insert(let component, _, _):
            component
        }
    }
}
