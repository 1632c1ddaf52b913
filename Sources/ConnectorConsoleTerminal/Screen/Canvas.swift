// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The cells of a screen. Only ``write(_:_:line:column:width:)`` puts text into it, and it lets no control character pass.
package struct Canvas: Sendable, Equatable {
    /// The width in columns.
    package let width: Int
    /// The height in lines.
    package let height: Int
    private let isUnicode: Bool
    private var cells: [Cell]

    /// The most code points of one character; further combining marks are dropped.
    private static let scalarLimit = 8

    /// Creates an empty screen.
    package init(width: Int, height: Int, isUnicode: Bool) {
        self.width = max(0, width)
        self.height = max(0, height)
        self.isUnicode = isUnicode
        cells = Array(repeating: .blank, count: self.width * self.height)
    }

    /// The cell at a line and a column.
    subscript(line: Int, column: Int) -> Cell { cells[line * width + column] }

    /// The characters of a line, without trailing spaces.
    package func text(ofLine line: Int) -> String {
        let text = (0..<width).map { self[line, $0].text }.joined()
        return String(text.reversed().drop { $0 == " " }.reversed())
    }

    /// Writes a text, and drops what does not fit.
    ///
    /// - Parameter width: The most columns to use.
    /// - Returns: How many columns were used.
    @discardableResult
    mutating func write(_ text: String, _ look: Look, line: Int, column: Int, width: Int) -> Int {
        guard (0..<height).contains(line), column >= 0 else { return 0 }
        let end = min(self.width, column + max(0, width))
        var place = column
        for character in text.displayed(isUnicode: isUnicode) {
            let columns = CharacterWidth.columns(of: character)
            // Characters that are invisible on their own may hide something.
            let shown = columns == 0 ? (isUnicode ? "\u{FFFD}" : "?") : Self.limited(character)
            guard place + max(1, columns) <= end else { break }
            let isCertain = columns == 0 || CharacterWidth.isCertain(character)
            set(Cell(text: shown, look: look, isCertain: isCertain), line, place, columns: columns)
            place += max(1, columns)
        }
        return place - column
    }

    /// Fills columns of a line with spaces of a look.
    mutating func fill(_ look: Look, line: Int, column: Int, width: Int) {
        for place in max(0, column)..<max(0, column, min(self.width, column + width)) where (0..<height).contains(line)
        {
            set(Cell(text: " ", look: look), line, place, columns: 1)
        }
    }

    private mutating func set(_ cell: Cell, _ line: Int, _ column: Int, columns: Int) {
        halve(line, column)
        cells[line * width + column] = cell
        guard columns == 2 else { return }
        halve(line, column + 1)
        cells[line * width + column + 1] = Cell(text: "", look: cell.look)
    }

    /// Blanks the other half of a wide character before one half is overwritten.
    private mutating func halve(_ line: Int, _ column: Int) {
        let place = line * width + column
        if cells[place].text.isEmpty, column > 0 {
            cells[place - 1] = Cell(text: " ", look: cells[place - 1].look)
        } else if column + 1 < width, cells[place + 1].text.isEmpty {
            cells[place + 1] = Cell(text: " ", look: cells[place + 1].look)
        }
    }

    private static func limited(_ character: Character) -> String {
        guard character.unicodeScalars.count > scalarLimit else { return String(character) }
        return String(String.UnicodeScalarView(character.unicodeScalars.prefix(scalarLimit)))
    }
}
