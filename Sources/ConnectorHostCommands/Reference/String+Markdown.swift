// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

extension String {
    /// The text as one line of a page in Markdown, which shows all of it: nothing steers the display, and nothing begins a comment, such as
    /// the mark where a page's part from the manifest ends.
    var inMarkdown: String { displayed(isUnicode: true).replacing("<!", with: "<\\!") }
}
