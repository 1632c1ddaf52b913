// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorHost
internal import ConnectorManifest

/// The errors of a configuration, or of a command that could not run.
struct ErrorsDocument: Document {
    /// The errors in the order to show them; never empty.
    var errors: [ConnectorError]
    /// The occasion of the errors, which decides the usual remedy.
    var occasion = Remedy.Occasion.opening

    func lines(_ style: TextStyle) -> [String] {
        errors.flatMap { ErrorLines(error: $0, occasion: occasion).lines(style) }
    }

    var json: JSONValue {
        ["version": 1, "errors": .array(errors.map(\.json))]
    }
}
