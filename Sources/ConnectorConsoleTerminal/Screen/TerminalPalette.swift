// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorConsole

/// Maps styles to the colors of the terminal: sixteen, or none.
package struct TerminalPalette: Sendable {
    private let sheet: StyleSheet
    private let isColoured: Bool
    /// Whether the terminal shows characters beyond ASCII.
    let isUnicode: Bool

    /// Creates a palette for the capabilities of a terminal.
    package init(sheet: StyleSheet = .standard, isColoured: Bool, isUnicode: Bool) {
        self.sheet = sheet
        self.isColoured = isColoured
        self.isUnicode = isUnicode
    }

    /// The attributes of a text with several styles; attributes that one style does not set come from the next.
    func attributes(_ names: StyleName...) -> CellAttributes {
        let style = names.reduce(Style()) { $0.filled(from: sheet.resolved($1)) }
        var attributes = CellAttributes()
        attributes.colour = isColoured ? style.colour.flatMap(Self.parameter) : nil
        attributes.background = isColoured ? style.background.flatMap(Self.parameter).map { $0 + 10 } : nil
        attributes.isBold = style.isBold ?? false
        attributes.isFaint = style.isFaint ?? false
        attributes.isUnderlined = style.isUnderlined ?? false
        attributes.isReversed = style.isReversed ?? false
        return attributes
    }

    /// The gap between the cells of a table, in columns.
    var gap: Int { sheet.resolved(.text).gap ?? 2 }

    /// The SGR parameter of a foreground color; the background's is 10 higher. Gray has none and is only dimmed, because no gray
    /// among the sixteen colors is visible on every background.
    private static func parameter(_ colour: Style.Colour) -> UInt8? {
        switch colour {
        case .red: 31
        case .green: 32
        case .yellow: 33
        case .blue: 94
        case .cyan: 36
        default: nil
        }
    }
}
