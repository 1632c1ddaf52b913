// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConsoleTerminal

/// Rows with aligned columns.
struct Table {
    /// The contents of a cell: pieces of text, each with a color.
    struct Cell: ExpressibleByStringLiteral {
        /// The text and color of each piece, from left to right.
        var pieces: [(text: String, colour: TextStyle.Colour?)]

        init(_ text: String, _ colour: TextStyle.Colour? = nil) {
            pieces = [(text, colour)]
        }

        init(stringLiteral text: String) {
            self.init(text)
        }

        init(_ pieces: [(text: String, colour: TextStyle.Colour?)]) {
            self.pieces = pieces
        }

        /// The width in columns of the terminal.
        var width: Int { pieces.reduce(0) { $0 + CharacterWidth.columns(of: $1.text) } }

        func painted(_ style: TextStyle) -> String {
            pieces.map { style.paint($0.text, $0.colour) }.joined()
        }
    }

    /// A row of cells, or a note.
    private enum Row {
        case cells([Cell])
        case note(String)
    }

    private var rows: [Row] = []

    /// Adds a row.
    mutating func append(_ cells: [Cell]) { rows.append(.cells(cells)) }

    /// Adds a note below the last row, outside the columns.
    mutating func append(note: String) { rows.append(.note(note)) }

    /// The rows as lines, without trailing spaces.
    func lines(_ style: TextStyle) -> [String] {
        var widths: [Int] = []
        for case .cells(let cells) in rows {
            for (column, cell) in cells.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], cell.width)
            }
        }
        return rows.map { row in
            switch row {
            case .note(let text): return text
            case .cells(let cells):
                let last = cells.lastIndex { $0.width > 0 } ?? -1
                var line = ""
                for (column, cell) in cells.prefix(last + 1).enumerated() {
                    line += cell.painted(style)
                    if column < last { line += String(repeating: " ", count: widths[column] - cell.width + 2) }
                }
                return line
            }
        }
    }
}
