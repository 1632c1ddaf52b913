// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One cell of the screen.
struct Cell: Hashable {
    /// The character; empty for the second column of a wide one.
    var text: String
    /// The attributes of the character.
    var attributes: CellAttributes
    /// Whether all terminals give the character the same width.
    var isCertain = true

    /// An empty cell.
    static let blank = Cell(text: " ", attributes: CellAttributes())
}

/// The attributes of a cell that terminals support.
struct CellAttributes: Hashable {
    /// The foreground, one of the sixteen colors, as a parameter of SGR; nil for the default.
    var colour: UInt8?
    /// The background color, as a parameter of SGR; nil for the default.
    var background: UInt8?
    /// Bold.
    var isBold = false
    /// Dimmed.
    var isFaint = false
    /// Underlined.
    var isUnderlined = false
    /// Foreground and background are swapped.
    var isReversed = false

    /// The parameters of SGR (ECMA-48, 8.3.117) that turn any attributes into these.
    var parameters: String {
        var parameters = ["0"]
        if isBold { parameters.append("1") }
        if isFaint { parameters.append("2") }
        if isUnderlined { parameters.append("4") }
        if isReversed { parameters.append("7") }
        if let colour { parameters.append("\(colour)") }
        if let background { parameters.append("\(background)") }
        return parameters.joined(separator: ";")
    }
}
