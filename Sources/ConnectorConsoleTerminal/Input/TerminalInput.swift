// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// What somebody did at a terminal.
package enum TerminalInput: Sendable, Hashable {
    /// Pressed a key.
    case key(Key)
    /// Pressed a button of the mouse at a place, counted from 0.
    case click(column: Int, line: Int)
    /// Turned the wheel: down if positive.
    case wheel(Int)
    /// Pasted a text.
    case paste(String)

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
        /// A letter, while Control was held.
        case control(Character)
        /// Anything that prints.
        case character(Character)
    }
}
