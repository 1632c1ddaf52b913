// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Writes tables in Markdown.
enum MarkdownTable {
    /// A row with these cells, in which it escapes vertical bars, comments and what would steer a display.
    static func row(_ cells: [String]) -> String {
        let texts = cells.map { cell in
            cell.inMarkdown.split(ascii: "|", omittingEmptySubsequences: false)
                .joined(separator: "\\|")
        }
        return "| \(texts.joined(separator: " | ")) |"
    }
}
