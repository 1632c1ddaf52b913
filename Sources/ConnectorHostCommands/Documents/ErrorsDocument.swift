// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHost

/// The errors of a configuration, or of a command that could not run.
struct ErrorsDocument: Document {
    /// The errors in display order; never empty.
    var errors: [ConnectorError]
    /// The number of further errors, which are not listed.
    var omitted = 0
    /// The context of the errors, which selects the usual remedy.
    var occasion = Remedy.Occasion.opening
    /// Whether the errors are those of a plugin that reaches no server.
    var isLocal = false
    /// Whether the document is the result of validating a configuration.
    var isValidation = false
    /// The events that were sent all the same; nil if the command sends no lines.
    var sent: SentDocument?

    func lines(_ style: TextStyle) -> [String] {
        errors.flatMap { ErrorLines(error: $0, occasion: occasion, isLocal: isLocal).lines(style) }
            + (omitted > 0 ? ["and \(omitted) more"] : []) + (sent?.lines(style) ?? [])
    }

    var json: JSONValue {
        var object: JSONObject = ["version": 1, "errors": .array(errors.map(\.json))]
        if isValidation { object["valid"] = false }
        if omitted > 0 { object["omitted"] = .integer(Int64(omitted)) }
        if let sent { object["sent"] = .integer(Int64(sent.sent)) }
        return .object(object)
    }
}
