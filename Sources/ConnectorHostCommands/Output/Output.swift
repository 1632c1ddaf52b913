// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Writes the answers of a command.
struct Output: Sendable {
    /// The format of answers.
    var format: Format
    /// The style of text.
    var style: TextStyle

    /// A format of answers.
    enum Format: Sendable {
        /// Human-readable lines.
        case text
        /// One JSON document.
        case json
    }

    /// Writes the answer of a command to standard output.
    func write(_ document: some Document) {
        StandardStream.output.write(render(document))
    }

    /// Writes one of several answers; JSON is written as one line.
    func writeLine(_ document: some Document) {
        switch format {
        case .text: write(document)
        case .json: StandardStream.output.write(document.json.serialized() + "\n")
        }
    }

    /// The answer as text, ending with a newline.
    func render(_ document: some Document) -> String {
        switch format {
        case .text: document.lines(style).map { $0 + "\n" }.joined()
        case .json: document.json.serialized(pretty: true) + "\n"
        }
    }
}
