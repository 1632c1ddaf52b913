// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// A scene laid out in lines of a given width, which a terminal scrolls through.
struct Page {
    /// The lines from the top.
    private(set) var lines: [Line] = []
    private let scene: Scene
    private let width: Int
    private let palette: TerminalPalette
    /// The widths of each component's columns; zero for empty ones.
    private var widths: [[Int]] = []
    /// The prefixes of the rows of each tree, which draw its branches.
    private var guides: [[String]] = []

    /// A line.
    struct Line {
        /// The row that it belongs to; nil for titles and blank lines.
        var row: RowIndex?
        /// The text; nil for the cells of its row, which are joined when they are drawn.
        var text: StyledText?
    }

    /// A row of a scene.
    struct RowIndex: Hashable {
        /// The index of its component.
        var component: Int
        /// Its index in the component.
        var row: Int
    }

    /// Lays a scene out.
    init(_ scene: Scene, width: Int, _ palette: TerminalPalette) {
        self.scene = scene
        self.width = width
        self.palette = palette
        for (index, component) in scene.components.enumerated() {
            if index > 0 { lines.append(Line()) }
            if !component.title.isEmpty {
                let span = StyledText(component.span.map { ", the last \($0)" } ?? "", .muted)
                lines.append(Line(text: (StyledText(component.title, .title) + span).displayed(palette)))
            }
            if !component.state.text.isEmpty { lines.append(Line(text: component.state.text.displayed(palette))) }
            guides.append(component.shape == .tree ? Self.guides(of: component.rows) : [])
            widths.append(columnWidths(of: component))
            add(component, number: index)
        }
    }

    /// The text of a line.
    func text(of line: Int) -> StyledText {
        if let text = lines[line].text { return text }
        guard let place = lines[line].row else { return "" }
        let component = scene.components[place.component]
        let guide = guides[place.component].isEmpty ? "" : guides[place.component][place.row]
        return cells(of: component.rows[place.row], in: component, widths[place.component], guide)
    }

    /// Each row with its lines, from the top.
    var rows: [(place: RowIndex, lines: Range<Int>)] {
        var rows: [(place: RowIndex, lines: Range<Int>)] = []
        for (index, line) in lines.enumerated() {
            guard let place = line.row else { continue }
            let isSame = rows.last?.place == place
            let first = isSame ? rows.removeLast().lines.lowerBound : index
            rows.append((place, first..<(index + 1)))
        }
        return rows
    }

    private mutating func add(_ component: Component, number: Int) {
        if !component.columns.isEmpty, !component.rows.isEmpty {
            let heading = Row("", component.columns.map { StyledText($0.title, .heading) })
            lines.append(Line(text: cells(of: heading, in: component, widths[number], "")))
        }
        if component.shape == .chart { lines += chart(component).map { Line(text: $0) } }
        for (index, row) in component.rows.enumerated() {
            let place = RowIndex(component: number, row: index)
            switch component.shape {
            case .tree, .table: lines.append(Line(row: place))
            default:
                var row = row
                let state = row.actText
                if !state.isEmpty { row.cells.append((row.cells.popLast() ?? "") + "  " + state) }
                lines += wrapped(row, widths[number]).map { Line(row: place, text: $0) }
            }
        }
    }

    // MARK: Cells

    private func columnWidths(of component: Component) -> [Int] {
        var natural: [Int] = []
        for row in component.rows {
            for (index, cell) in row.cells.enumerated() {
                if index == natural.count { natural.append(0) }
                let indent = index == 0 && component.shape == .tree ? row.depth * 3 : 0
                natural[index] = max(natural[index], cell.displayed(palette).columns + indent)
            }
        }
        for (index, column) in component.columns.enumerated() where index < natural.count && natural[index] > 0 {
            natural[index] = max(natural[index], CharacterWidth.columns(of: column.title))
        }
        // In other shapes the last cell is wrapped, and the others keep their natural width.
        guard [.tree, .table].contains(component.shape) else { return natural }
        return ColumnWidths.fitted(natural, into: width, gap: palette.gap)
    }

    private func cells(of row: Row, in component: Component, _ widths: [Int], _ guide: String) -> StyledText {
        let gap = StyledText(String(repeating: " ", count: palette.gap))
        var line = StyledText("")
        for (index, cell) in row.cells.enumerated() where index < widths.count && widths[index] > 0 {
            if !line.isEmpty { line = line + gap }
            var text = cell.displayed(palette)
            if index == 0 { text = StyledText(guide, .muted).displayed(palette) + text }
            let isNumber = index < component.columns.count && component.columns[index].isNumber
            line = line + text.fitted(to: widths[index], isNumber: isNumber, palette)
        }
        let state = row.actText
        return state.isEmpty ? line : line + gap + state.displayed(palette)
    }

    /// The prefix of each row of a tree, which draws its branches.
    private static func guides(of rows: [Row]) -> [String] {
        // Going backwards, a row is the last child of its parent unless a sibling was seen below the same parent.
        var seen: [Bool] = []
        var isLast = rows.reversed().map { row in
            seen = Array(seen.prefix(row.depth + 1))
            while seen.count <= row.depth { seen.append(false) }
            defer { seen[row.depth] = true }
            return !seen[row.depth]
        }
        isLast.reverse()
        var levels: [Bool] = []
        return zip(rows, isLast).map { row, isLast in
            levels = Array(levels.prefix(row.depth))
            while levels.count < row.depth { levels.append(true) }
            levels.append(isLast)
            guard row.depth > 0 else { return "" }
            return levels.dropFirst().dropLast().map { $0 ? "   " : "│  " }.joined() + (isLast ? "└─ " : "├─ ")
        }
    }

    /// The lines of a row: all cells but the last side by side, then the last one, wrapped.
    private func wrapped(_ row: Row, _ widths: [Int]) -> [StyledText] {
        guard let last = row.cells.last else { return [""] }
        var head = StyledText("")
        for (cell, columns) in zip(row.cells.dropLast(), widths) {
            head = head + cell.displayed(palette).fitted(to: columns + palette.gap, isNumber: false, palette)
        }
        // Cells that take more than half the width get a line of their own above.
        let indent = head.columns > width / 2 ? palette.gap : head.columns
        let texts = last.displayed(palette).wrapped(to: max(1, width - indent))
        let blanks = StyledText(String(repeating: " ", count: indent))
        if indent < head.columns { return [head] + texts.map { blanks + $0 } }
        return texts.enumerated().map { $0.offset == 0 ? head + $0.element : blanks + $0.element }
    }

    // MARK: Charts

    private func chart(_ component: Component) -> [StyledText] {
        let names = component.series.map { CharacterWidth.columns(of: $0.name.displayed(isUnicode: palette.isUnicode)) }
        let label = (names.max() ?? 0) + palette.gap
        return component.series.map { series in
            let name = StyledText(series.name, .muted).displayed(palette).fitted(to: label, isNumber: false, palette)
            let most = series.values.max() ?? 0
            let now = component.number(series.values.last ?? 0)
            let numbers = StyledText(" \(now), at most \(component.number(most))", .muted)
            let room = max(0, width - label - numbers.columns)
            let bars = ChartModel.resampled(series.values, to: room).map { Self.bar($0, of: most) }.joined()
            return name + StyledText(bars, series.style).displayed(palette) + numbers
        }
    }

    private static func bar(_ value: Double, of most: Double) -> String {
        guard most > 0, value > 0, most.isFinite, value.isFinite else { return " " }
        let bars = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
        return bars[min(bars.count - 1, max(0, Int(value / most * Double(bars.count) - 0.5)))]
    }
}
