// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// One column of one line.
struct Cell: Hashable {
    /// The character; empty for the second column of a wide one.
    var text: String
    /// How it looks.
    var look: Look
    /// Whether every terminal takes as many columns for it as ``Canvas`` does.
    var isCertain = true

    /// Nothing.
    static let blank = Cell(text: " ", look: Look())
}

/// How a cell looks, in what terminals have.
struct Look: Hashable {
    /// One of sixteen colours, as the parameter of SGR; nil for the terminal's own.
    var colour: UInt8?
    /// The colour behind, in the same way.
    var background: UInt8?
    /// Heavier.
    var isBold = false
    /// Paler.
    var isFaint = false
    /// Underlined.
    var isUnderlined = false
    /// Letters and background change their colours.
    var isReversed = false

    /// The parameters of SGR (ECMA-48, 8.3.117) that turn every other look into this one.
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
