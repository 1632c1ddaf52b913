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
    func tab(at column: Int, of scene: Scene, in frame: SceneLayout.Frame) -> String? {
        tabs(of: scene, in: frame).first { $0.columns.contains(column) }?.row.id
    }

    /// The tabs that are in sight. Where they do not all fit beside the readiness, the first ones give way to the current one.
    private func tabs(of scene: Scene, in frame: SceneLayout.Frame) -> [(row: Row, text: String, columns: Range<Int>)] {
        let rows = scene.components.first?.rows ?? []
        let texts = rows.enumerated().map { text($0.offset, $0.element.cells.first?.text ?? "") }
        let widths = texts.map { CharacterWidth.columns(of: $0) }
        let end = frame.column + max(0, frame.width - (readiness(of: scene)?.columns ?? 0))
        let current = rows.firstIndex { $0.id == coordinator.tab } ?? 0
        var first = 0
        while first < current, widths[first...current].reduce(frame.column, +) > end { first += 1 }
        var left = frame.column
        return rows.indices.dropFirst(first).map { index in
            let right = min(end, left + widths[index])
            defer { left = right }
            return (rows[index], texts[index], left..<right)
        }
    }

    private func readiness(of scene: Scene) -> StyledText? {
        scene.components.last?.rows.first?.cells.first?.displayed(palette)
    }

    /// Draws the tabs.
    func draw(_ scene: Scene, on canvas: inout Canvas, in frame: SceneLayout.Frame) {
        canvas.fill(palette.attributes(.bar), line: frame.line, column: frame.column, width: frame.width)
        let readiness = readiness(of: scene)
        let columns = readiness?.columns ?? 0
        for tab in tabs(of: scene, in: frame) {
            let attributes = palette.attributes(tab.row.cells.first?.spans.first?.style ?? .bar)
            canvas.write(
                tab.text,
                attributes,
                line: frame.line,
                column: tab.columns.lowerBound,
                width: tab.columns.count
            )
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
