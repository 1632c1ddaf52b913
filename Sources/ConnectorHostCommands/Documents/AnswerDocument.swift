// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The answer of an operation.
struct AnswerDocument: Document {
    /// The path of the connector.
    var path: String
    /// The name of the operation.
    var operation: String
    /// The answer; null if there is none.
    var result: JSONValue

    /// A string with its lines and tabs, nothing for null, and JSON otherwise.
    ///
    /// Control characters are escaped. What another program reads is UTF-8 in every locale.
    func lines(_ style: TextStyle) -> [String] {
        var style = style
        if !style.isTerminal { style.isUnicode = true }
        switch result {
        case .null: return []
        case .string(let text):
            return text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
                line.split(separator: "\t", omittingEmptySubsequences: false).map { style.shown(String($0)) }
                    .joined(separator: "\t")
            }
        default: return style.lines(of: result)
        }
    }

    var json: JSONValue {
        ["version": 1, "path": .string(path), "operation": .string(operation), "result": result]
    }
}
