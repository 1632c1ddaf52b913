// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Writes tables in Markdown.
enum MarkdownTable {
    /// A row with these cells, whose vertical bars it escapes.
    static func row(_ cells: [String]) -> String {
        let texts = cells.map { $0.split(ascii: "|", omittingEmptySubsequences: false).joined(separator: "\\|") }
        return "| \(texts.joined(separator: " | ")) |"
    }
}
