// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error of Kinto, with the numbers of its protocol.
struct KintoFailure: Error {
    /// The HTTP status.
    var status: Int
    /// Kinto's error number.
    var errno: Int64
    /// The message; `nil` if Kinto gives none.
    var message: String?
    /// The details of the error.
    var details: JSONValue?
    /// Headers to add to the answer.
    var headers: HTTPFields = [:]

    /// An invalid parameter.
    static func invalid(_ message: String, location: String, name: String?, description: String? = nil) -> KintoFailure
    {
        let detail: JSONObject = [
            "location": .string(location),
            "name": name.map { .string($0) } ?? .null,
            "description": .string(description ?? message),
        ]
        return KintoFailure(status: 400, errno: 107, message: message, details: [.object(detail)])
    }

    /// Missing or wrong credentials.
    static var unauthorized: KintoFailure {
        KintoFailure(
            status: 401,
            errno: 104,
            message: "Please authenticate yourself to use this endpoint.",
            headers: ["WWW-Authenticate": "Basic realm=\"Realm\""]
        )
    }

    /// An object that this user may not see, or a bucket that does not exist.
    static var forbidden: KintoFailure {
        KintoFailure(status: 403, errno: 121, message: "This user cannot access this resource.")
    }

    /// A missing object, or a missing parent of the requested one.
    static func missing(_ id: String, _ resource: String, isParent: Bool = false) -> KintoFailure {
        let details: JSONValue = ["id": .string(id), "resource_name": .string(resource)]
        return KintoFailure(status: 404, errno: isParent ? 111 : 110, details: details)
    }

    /// An unknown path.
    static var unknownPath: KintoFailure {
        KintoFailure(status: 404, errno: 111, message: "The resource you are looking for could not be found.")
    }

    /// A method that the path does not support.
    static func method(allowed: String) -> KintoFailure {
        KintoFailure(
            status: 405,
            errno: 115,
            message: "Method not allowed on this endpoint.",
            headers: ["Allow": allowed]
        )
    }

    /// A precondition that failed.
    static func modified(timestamp: Int64, existing: JSONObject?) -> KintoFailure {
        KintoFailure(
            status: 412,
            errno: 114,
            message: "Resource was modified meanwhile",
            details: existing.map { ["existing": .object($0)] },
            headers: [
                "ETag": "\"\(timestamp)\"",
                "Last-Modified": Timestamp(milliseconds: timestamp).httpDate,
            ]
        )
    }

    /// A write that the server has rolled back because another one reached its PostgreSQL with the same timestamp.
    static var rolledBack: KintoFailure {
        KintoFailure(
            status: 409,
            errno: 122,
            message: "Integrity constraint violated, please retry.",
            headers: ["Retry-After": "3"]
        )
    }

    /// The answer.
    var response: HTTPResponse {
        var body: JSONObject = [
            "code": .integer(Int64(status)), "errno": .integer(errno),
            "error": .string(errno == 107 ? "Invalid parameters" : HTTPReason.text(of: status)),
        ]
        if let message { body["message"] = .string(message) }
        if let details { body["details"] = details }
        return HTTPResponse(status: status, headers: headers, json: .object(body))
    }
}
