// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A rectangle of characters.
package struct Frame: Sendable, Hashable {
    /// The column of its left side, from 0.
    package var column: Int
    /// The line of its upper side, from 0.
    package var line: Int
    /// How many characters it is wide.
    package var width: Int
    /// How many lines it has.
    package var height: Int

    /// Takes its parts.
    package init(column: Int, line: Int, width: Int, height: Int) {
        self.column = column
        self.line = line
        self.width = max(0, width)
        self.height = max(0, height)
    }

    /// Whether a character is in it.
    package func contains(column: Int, line: Int) -> Bool {
        (self.column..<self.column + width).contains(column) && (self.line..<self.line + height).contains(line)
    }
}
