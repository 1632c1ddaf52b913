// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// Divides the width of a terminal among the columns of a table.
enum ColumnWidths {
    /// The width below which no column shrinks.
    private static let minimum = 6

    /// The widths of columns, given the natural widths of their contents.
    ///
    /// The widest columns shrink first, so that narrow ones stay whole; among equally wide ones the rightmost shrinks first.
    static func fitted(_ natural: [Int], into width: Int, gap: Int) -> [Int] {
        var widths = natural
        var excess = widths.reduce(0, +) + gap * max(0, widths.count { $0 > 0 } - 1) - width
        while excess > 0, let widest = widths.max(), widest > minimum {
            let next = max(minimum, widths.filter { $0 < widest }.max() ?? minimum)
            let indices = widths.indices.filter { widths[$0] == widest }.reversed()
            let share = min(widest - next, max(1, (excess + indices.count - 1) / indices.count))
            for index in indices where excess > 0 {
                let less = min(share, excess)
                widths[index] -= less
                excess -= less
            }
        }
        // If that is still too wide, cut off columns from the right.
        var room = width
        for index in widths.indices where widths[index] > 0 {
            widths[index] = max(0, min(widths[index], room))
            room -= widths[index] + gap
        }
        return widths
    }
}
