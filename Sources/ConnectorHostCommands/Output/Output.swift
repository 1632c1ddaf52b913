// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The one place where answers leave the program.
struct Output: Sendable {
    /// What the answer is written as.
    var format: Format
    /// How text may look.
    var style: TextStyle

    /// A way to write a document.
    enum Format: Sendable {
        /// For people.
        case text
        /// For programs: exactly one document.
        case json
    }

    /// Writes the answer of a command to standard output.
    func write(_ document: some Document) {
        StandardStream.output.write(render(document))
    }

    /// Writes one of many answers: each is a line of its own, also as JSON.
    func writeLine(_ document: some Document) {
        switch format {
        case .text: write(document)
        case .json: StandardStream.output.write(document.json.serialized() + "\n")
        }
    }

    /// The answer as it is written, with its last line ended.
    func render(_ document: some Document) -> String {
        switch format {
        case .text: document.lines(style).map { $0 + "\n" }.joined()
        case .json: document.json.serialized(pretty: true) + "\n"
        }
    }
}
