// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// Draws a scene into the main or side slot: its route, followed by the visible lines.
enum MainView {
    /// The lines of a scene in a slot.
    static func page(_ scene: Scene, in frame: SceneLayout.Frame, _ palette: TerminalPalette) -> Page {
        // Two columns on the left mark the selected row, even without colors.
        Page(scene, width: max(0, frame.width - 2), palette)
    }

    /// The number of lines in a slot that scroll, which excludes the line with the route.
    static func height(of frame: SceneLayout.Frame) -> Int { max(0, frame.height - 1) }

    /// The line of the page at a line of the screen; nil for the line with the route.
    static func line(at line: Int, in frame: SceneLayout.Frame, _ cursor: SceneCursor) -> Int? {
        line > frame.line ? cursor.top + line - frame.line - 1 : nil
    }

    /// Draws a scene.
    ///
    /// - Parameter cursor: The selected row; nil for none.
    static func draw(
        _ scene: Scene,
        _ cursor: SceneCursor?,
        search: String?,
        on canvas: inout Canvas,
        in frame: SceneLayout.Frame,
        _ palette: TerminalPalette
    ) {
        let search = search.map { "   / \($0)" } ?? ""
        canvas.write(
            "\(scene.route)\(search)",
            palette.attributes(.title),
            line: frame.line,
            column: frame.column,
            width: frame.width
        )
        let page = page(scene, in: frame, palette)
        let top = cursor?.top ?? 0
        for (offset, index) in page.lines.indices.dropFirst(top).prefix(height(of: frame)).enumerated() {
            let line = frame.line + 1 + offset
            let isSelected = cursor?.place != nil && page.lines[index].row == cursor?.place
            if isSelected {
                canvas.fill(palette.attributes(.selected), line: line, column: frame.column, width: frame.width)
                canvas.write(">", palette.attributes(.selected), line: line, column: frame.column, width: 1)
            }
            var column = frame.column + 2
            for span in page.text(of: index).spans {
                let attributes = isSelected ? palette.attributes(.selected, span.style) : palette.attributes(span.style)
                let room = frame.column + frame.width - column
                column += canvas.write(span.text, attributes, line: line, column: column, width: room)
            }
        }
    }
}
