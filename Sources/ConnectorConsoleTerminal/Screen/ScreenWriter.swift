// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Writes the difference between two screens.
///
/// Unchanged cells are skipped. Terminals disagree on the width of some characters, so the cursor is positioned after each
/// character that is not ASCII. For emoji sequences even that would leave artifacts, so their columns are blanked first and the
/// columns after them are rewritten.
package enum ScreenWriter {
    /// How many columns after a character of uncertain width are rewritten.
    private static let shadow = 4

    /// The bytes to send.
    ///
    /// - Parameter old: The contents of the screen; nil if unknown.
    package static func difference(from old: Canvas?, to new: Canvas) -> [UInt8] {
        let old = old.flatMap { $0.width == new.width && $0.height == new.height ? $0 : nil }
        guard old != new else { return [] }
        var writer = Writer()
        writer.put("\u{1B}[?2026h")
        if old == nil { writer.put("\u{1B}[0m\u{1B}[2J") }
        for line in 0..<new.height { writer.write(line, of: new, over: old) }
        writer.put("\u{1B}[0m\u{1B}[?2026l")
        return writer.bytes
    }

    private struct Writer {
        var bytes: [UInt8] = []
        private var attributes: CellAttributes?

        mutating func put(_ text: String) { bytes += Array(text.utf8) }

        mutating func write(_ line: Int, of new: Canvas, over old: Canvas?) {
            /// The column of the terminal's cursor; nil if unknown.
            var cursor: Int?
            var shadow = 0
            for column in 0..<new.width {
                let cell = new[line, column]
                shadow -= 1
                // The second half of a wide character is written with the first.
                guard !cell.text.isEmpty else { continue }
                let isWide = column + 1 < new.width && new[line, column + 1].text.isEmpty
                let known = old.map { old in
                    old[line, column] == cell && (!isWide || old[line, column + 1] == new[line, column + 1])
                }
                let wasUncertain = old.map { !$0[line, column].isCertain } ?? false
                if known ?? (cell == .blank), shadow <= 0 {
                    cursor = nil
                    continue
                }
                if cursor != column { move(line, column) }
                if attributes != cell.attributes {
                    put("\u{1B}[\(cell.attributes.parameters)m")
                    attributes = cell.attributes
                }
                if !cell.isCertain || wasUncertain {
                    put(isWide ? "  " : " ")
                    move(line, column)
                    shadow = ScreenWriter.shadow
                }
                put(cell.text)
                cursor = cell.text.utf8.count == 1 ? column + 1 : nil
            }
        }

        /// Moves the cursor with CUP of ECMA-48, which counts from 1.
        private mutating func move(_ line: Int, _ column: Int) { put("\u{1B}[\(line + 1);\(column + 1)H") }
    }
}
