// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// A rectangle of characters.
package struct Frame: Sendable, Hashable {
    /// The leftmost column, from 0.
    package var column: Int
    /// The top line, from 0.
    package var line: Int
    /// The width in characters.
    package var width: Int
    /// The height in lines.
    package var height: Int

    /// Creates a frame.
    package init(column: Int, line: Int, width: Int, height: Int) {
        self.column = column
        self.line = line
        self.width = max(0, width)
        self.height = max(0, height)
    }

    /// Whether a position lies in the frame.
    package func contains(column: Int, line: Int) -> Bool {
        (self.column..<self.column + width).contains(column) && (self.line..<self.line + height).contains(line)
    }
}
