// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error of PostgREST or PostgreSQL (docs.postgrest.org, "Errors").
struct PostgRESTFailure: Error {
    /// The HTTP status.
    var status: Int
    /// PostgREST's or PostgreSQL's code for the error.
    var code: String
    /// The message.
    var message: String
    /// What there is to add.
    var details: String?

    /// A part of the request that cannot be read.
    static func unreadable(_ part: String, _ text: String) -> PostgRESTFailure {
        let message = "\"failed to parse \(part) (\(text))\" (line 1, column 1)"
        return PostgRESTFailure(status: 400, code: "PGRST100", message: message)
    }

    /// A body that is not a JSON document.
    static let noJSON = PostgRESTFailure(status: 400, code: "PGRST102", message: "Empty or invalid json")
    /// A body of rows with different columns.
    static let differentKeys = PostgRESTFailure(status: 400, code: "PGRST102", message: "All object keys must match")
    /// A page that begins after the last row.
    static let noRange = PostgRESTFailure(status: 416, code: "PGRST103", message: "Requested range not satisfiable")

    /// The answer.
    var response: HTTPResponse {
        HTTPResponse(
            status: status,
            json: [
                "code": .string(code), "details": details.map { .string($0) } ?? .null, "hint": .null,
                "message": .string(message),
            ]
        )
    }
}
