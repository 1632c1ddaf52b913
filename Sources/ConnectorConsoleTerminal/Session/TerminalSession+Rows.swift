// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsole

extension TerminalSession {
    /// The cursor of the visible scene.
    var cursor: SceneCursor { cursors[coordinator.route] ?? SceneCursor() }

    /// The selected row.
    var row: Row? {
        guard let scene = windows[.main], scene.route == coordinator.route else { return nil }
        return cursor.place.map { scene.row(at: $0) }
    }

    /// Moves down by some lines, or up if negative.
    mutating func move(by lines: Int) -> [Effect] {
        guard let frame = windows.frames[.main], let scene = windows[.main], !scene.rowIndices.isEmpty else {
            return []
        }
        let page = MainView.page(scene, in: frame, palette)
        cursors[coordinator.route]?.move(by: lines, in: scene, page, height: MainView.height(of: frame))
        return mountSide()
    }

    /// Selects the clicked row, or opens it if it is already selected; a click on a tab opens the tab.
    mutating func click(column: Int, line: Int) -> [Effect] {
        let frames = windows.frames
        if let frame = frames[.navigation], frame.contains(column: column, line: line) {
            let tab = windows[.navigation].flatMap {
                TabBar(coordinator, registry, palette).tab(at: column, of: $0, in: frame)
            }
            return tab.map { dispatch(.move(Route([$0]))) } ?? []
        }
        guard let frame = frames[.main], frame.contains(column: column, line: line), let scene = windows[.main] else {
            return []
        }
        let page = MainView.page(scene, in: frame, palette)
        let clicked = MainView.line(at: line, in: frame, cursor)
        guard let clicked, page.lines.indices.contains(clicked), let place = page.lines[clicked].row else { return [] }
        // The first click selects; the second opens.
        if place == cursor.place { return handle(.enter) }
        cursors[coordinator.route]?.select(place, in: scene)
        return mountSide()
    }

    /// Performs the act with a verb that the row offers or, failing that, the scene.
    mutating func act(_ verb: ConsoleAct.Verb, onAll: Bool) -> [Effect] {
        let scene = windows[.main]
        let ofScene = scene?.acts.first { $0.verb == verb && $0.subject.isEveryLetter == onAll }
        let ofRow = onAll ? nil : row?.acts.first { $0.verb == verb }
        guard let act = ofRow ?? ofScene else {
            message = "there is nothing here to \(verb.rawValue)"
            return []
        }
        return dispatch(.act(act))
    }

    /// The act that a character triggers in the visible scene, first in the selected row; nil for none.
    func shortcut(_ character: Character) -> ConsoleAct? {
        guard let scene = windows[.main], scene.route == coordinator.route else { return nil }
        return row?.acts.first { $0.shortcut == character } ?? scene.allActs.first { $0.shortcut == character }
    }

    /// Copies the equivalent command line of the row or the scene.
    mutating func copy() -> [Effect] {
        guard let command = row?.commandLine ?? windows[.main]?.commandLine else {
            message = "there is no equivalent command line"
            return []
        }
        message = "copied: \(command)"
        return [.copy(command)]
    }
}
