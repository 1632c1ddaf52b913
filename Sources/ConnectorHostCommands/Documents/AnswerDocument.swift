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

    /// A text unchanged, nothing for null, JSON otherwise.
    func lines(_ style: TextStyle) -> [String] {
        switch result {
        case .null: []
        case .string(let text):
            text.split(separator: "\n", omittingEmptySubsequences: false).map { style.shown(String($0)) }
        default:
            result.serialized(pretty: true).split(separator: "\n").map { style.shown(String($0)) }
        }
    }

    var json: JSONValue {
        ["version": 1, "path": .string(path), "operation": .string(operation), "result": result]
    }
}
