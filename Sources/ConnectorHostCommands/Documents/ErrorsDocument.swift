// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// What is wrong with a configuration, or why a command could not do its work at all.
struct ErrorsDocument: Document {
    /// In the order to be shown; never empty.
    var errors: [ConnectorError]
    /// What failed.
    var occasion = Remedy.Occasion.opening

    func lines(_ style: TextStyle) -> [String] {
        errors.flatMap { ErrorLines(error: $0, occasion: occasion).lines(style) }
    }

    var json: JSONValue {
        ["version": 1, "errors": .array(errors.map(\.json))]
    }
}
