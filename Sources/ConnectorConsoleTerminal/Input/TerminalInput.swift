// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// An input from a terminal.
package enum TerminalInput: Sendable, Hashable {
    /// A key was pressed.
    case key(Key)
    /// A mouse button was pressed at a position, counted from 0.
    case click(column: Int, line: Int)
    /// The wheel was turned by some steps: down if positive, up if negative.
    case wheel(Int)
    /// Text was pasted: enough of it to fill a field, and a character more.
    case paste(String)

    /// The most bytes of pasted text that a field takes.
    package static let pasteLimit = 16_384

    /// The character that was typed; nil for any other input.
    var character: Character? { if case .key(.character(let character)) = self { character } else { nil } }

    /// A key.
    package enum Key: Sendable, Hashable {
        case up
        case down
        case left
        case right
        case home
        case end
        case pageUp
        case pageDown
        case enter
        case escape
        case tab
        case backTab
        case backspace
        case delete
        /// A letter with Control held.
        case control(Character)
        /// A printable character.
        case character(Character)
    }
}
