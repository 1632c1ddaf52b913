// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorConsole

/// A scene as lines of plain text.
public struct TextScene {
    /// The lines, from the top.
    public let lines: [String]
    /// The targets of the links, each shown by its number from 1.
    public let links: [Route]

    /// Draws a scene.
    public init(_ scene: Scene) {
        var lines = ["== \(scene.title) (\(scene.route))"]
        var links: [Route] = []
        for component in scene.components {
            if !component.title.isEmpty { lines.append("-- \(component.title)") }
            if !component.state.text.isEmpty { lines.append("   (\(Self.plain(component.state.text)))") }
            lines += Self.table(component, &links)
            lines += component.series.map {
                "   \($0.name): \($0.values.suffix(12).map { "\($0)" }.joined(separator: " "))"
            }
            if component.form != nil { lines.append("   fill \(component.id) NAME=VALUE …") }
        }
        for act in scene.acts { lines.append("   do \(Self.describe(act))") }
        self.lines = lines
        self.links = links
    }

    /// The rows with their columns aligned, the numbers of their links, and what can be done with them.
    private static func table(_ component: Component, _ links: inout [Route]) -> [String] {
        var rows = component.rows.map { row in row.cells.map(plain) }
        let hasHeadings = !component.columns.isEmpty && !rows.isEmpty
        if hasHeadings { rows.insert(component.columns.map(\.title), at: 0) }
        let count = rows.map(\.count).max() ?? 0
        let widths = (0..<count).map { column in
            rows.map { $0.indices.contains(column) ? $0[column].count : 0 }.max() ?? 0
        }
        var lines: [String] = []
        for (index, cells) in rows.enumerated() {
            let row = hasHeadings ? (index == 0 ? nil : component.rows[index - 1]) : component.rows[index]
            var line = "   " + String(repeating: "  ", count: row?.depth ?? 0)
            for (cell, width) in zip(cells, widths) {
                line += cell + String(repeating: " ", count: width - cell.count + 2)
            }
            while line.last == " " { line.removeLast() }
            if let link = row?.link {
                links.append(link)
                line += " [\(links.count)]"
            }
            for act in row?.acts ?? [] { line += " {\(describe(act))}" }
            lines.append(line)
        }
        return lines
    }

    private static func describe(_ act: ConsoleAct) -> String {
        let menu = act.menu.isEmpty ? "" : "\(act.menu) > "
        let state = act.state.text.isEmpty ? "" : " (\(plain(act.state.text)))"
        return "\(menu)\(act.title)\(state)"
    }

    /// A text without its styles. Control characters, which a plugin or a vendor may send, become visible.
    private static func plain(_ text: StyledText) -> String {
        String(text.text.unicodeScalars.map { $0.properties.generalCategory == .control ? "?" : Character($0) })
    }
}
