// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorConsole

/// The cells of a screen. Text is added only by ``write(_:_:line:column:width:)``, which escapes control characters.
package struct Canvas: Sendable, Equatable {
    /// The width in columns.
    package let width: Int
    /// The height in lines.
    package let height: Int
    private let isUnicode: Bool
    private var cells: [Cell]

    /// The maximum number of code points in one character; further combining marks are dropped.
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

    /// Writes a text, truncated to the available columns.
    ///
    /// - Parameter width: The maximum number of columns to use.
    /// - Returns: The number of columns used.
    @discardableResult
    mutating func write(_ text: String, _ attributes: CellAttributes, line: Int, column: Int, width: Int) -> Int {
        guard (0..<height).contains(line), column >= 0 else { return 0 }
        let end = min(self.width, column + max(0, width))
        var position = column
        for character in text.displayed(isUnicode: isUnicode) {
            let columns = CharacterWidth.columns(of: character)
            // Replace characters that are invisible on their own; they could hide text.
            let shown = columns == 0 ? (isUnicode ? "\u{FFFD}" : "?") : Self.limited(character)
            guard position + max(1, columns) <= end else { break }
            let isCertain = columns == 0 || CharacterWidth.isCertain(character)
            set(Cell(text: shown, attributes: attributes, isCertain: isCertain), line, position, columns: columns)
            position += max(1, columns)
        }
        return position - column
    }

    /// Fills columns of a line with spaces that have the attributes.
    mutating func fill(_ attributes: CellAttributes, line: Int, column: Int, width: Int) {
        guard (0..<height).contains(line) else { return }
        for column in max(0, column)..<max(0, column, min(self.width, column + width)) {
            set(Cell(text: " ", attributes: attributes), line, column, columns: 1)
        }
    }

    private mutating func set(_ cell: Cell, _ line: Int, _ column: Int, columns: Int) {
        blankOtherHalf(line, column)
        cells[line * width + column] = cell
        guard columns == 2 else { return }
        blankOtherHalf(line, column + 1)
        cells[line * width + column + 1] = Cell(text: "", attributes: cell.attributes)
    }

    /// Blanks the other half of a wide character before one half is overwritten.
    private mutating func blankOtherHalf(_ line: Int, _ column: Int) {
        let index = line * width + column
        if cells[index].text.isEmpty, column > 0 {
            cells[index - 1] = Cell(text: " ", attributes: cells[index - 1].attributes)
        } else if column + 1 < width, cells[index + 1].text.isEmpty {
            cells[index + 1] = Cell(text: " ", attributes: cells[index + 1].attributes)
        }
    }

    private static func limited(_ character: Character) -> String {
        guard character.unicodeScalars.count > scalarLimit else { return String(character) }
        return String(String.UnicodeScalarView(character.unicodeScalars.prefix(scalarLimit)))
    }
}
