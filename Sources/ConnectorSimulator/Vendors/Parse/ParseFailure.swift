// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error of Parse Server, with the codes of `Parse.Error`.
struct ParseFailure: Error {
    /// Parse's error code.
    var code: Int64
    /// The message.
    var message: String

    /// The object does not exist.
    static let objectNotFound = ParseFailure(code: 101, message: "Object not found.")

    /// A field that clients may not set.
    static func invalidName(_ field: String) -> ParseFailure {
        ParseFailure(code: 105, message: "\(field) is an invalid field name.")
    }

    /// An invalid query.
    static func query(_ message: String) -> ParseFailure { ParseFailure(code: 102, message: message) }

    /// A body or a query that is not JSON.
    static func json(_ message: String) -> ParseFailure { ParseFailure(code: 107, message: message) }

    /// 404 for a missing object, 500 for an internal error, 400 for anything else.
    var status: Int {
        switch code {
        case 1: 500
        case 101: 404
        default: 400
        }
    }

    /// `{code, error}`.
    var document: JSONValue { ["code": .integer(code), "error": .string(message)] }

    /// The answer.
    var response: HTTPResponse { HTTPResponse(status: status, json: document) }
}
