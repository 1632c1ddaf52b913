// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole
internal import ConnectorHost

/// The tabs in the first line of the screen.
struct TabBar {
    private let coordinator: Coordinator
    private let registry: ConsoleRegistry
    private let palette: TerminalPalette

    /// Creates the bar for a position and the scenes.
    init(_ coordinator: Coordinator, _ registry: ConsoleRegistry, _ palette: TerminalPalette) {
        self.coordinator = coordinator
        self.registry = registry
        self.palette = palette
    }

    /// The tabs as a scene: a row for each tab, and the number of open gates.
    func scene(_ snapshot: ConsoleSnapshot) -> Scene {
        let rows = registry.tabs.map { scene in
            let isCurrent = scene.root == coordinator.tab
            return Row(scene.root, [StyledText(scene.title, isCurrent ? .current : .bar)], link: Route([scene.root]))
        }
        let report = snapshot.report
        let leaves = report.gates.filter { $0.policy == nil }
        let open = leaves.count { $0.state == .open }
        let mark = !report.isReady ? "✗" : open < leaves.count ? "!" : "✓"
        let readiness = StyledText(snapshot.hasHost ? " \(mark) \(open)/\(leaves.count) " : "", .bar)
        return Scene(
            Route(["tabs"]),
            "Tabs",
            [registry.component("tabs", TableModel([], rows)), registry.component("readiness", NoticeModel(readiness))]
        )
    }

    /// The tab at a column of the screen.
    func tab(at column: Int) -> String? {
        var left = 0
        for (index, scene) in registry.tabs.enumerated() {
            let right = left + CharacterWidth.columns(of: text(index, scene.title))
            if (left..<right).contains(column) { return scene.root }
            left = right
        }
        return nil
    }

    /// Draws the tabs.
    func draw(_ scene: Scene, on canvas: inout Canvas, in frame: SceneLayout.Frame) {
        canvas.fill(palette.attributes(.bar), line: frame.line, column: frame.column, width: frame.width)
        let readiness = scene.components.last?.rows.first?.cells.first?.displayed(palette)
        let columns = readiness?.columns ?? 0
        var column = frame.column
        for (index, row) in (scene.components.first?.rows ?? []).enumerated() {
            let cell = row.cells.first ?? ""
            let attributes = palette.attributes(cell.spans.first?.style ?? .bar)
            let room = frame.column + frame.width - columns - column
            column += canvas.write(text(index, cell.text), attributes, line: frame.line, column: column, width: room)
        }
        let start = frame.column + frame.width - columns
        if let readiness, start > frame.column {
            canvas.write(readiness.text, palette.attributes(.bar), line: frame.line, column: start, width: columns)
        }
    }

    private func text(_ index: Int, _ title: String) -> String {
        let title = title.displayed(isUnicode: palette.isUnicode)
        return index < 9 ? " \(index + 1) \(title) " : " \(title) "
    }
}
