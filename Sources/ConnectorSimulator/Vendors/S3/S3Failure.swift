// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An error of S3 (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
struct S3Failure: Error {
    /// The HTTP status.
    var status: Int
    /// S3's name for the error.
    var code: String
    /// The message.
    var message: String

    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    static let noSuchKey = S3Failure(404, "NoSuchKey", "The specified key does not exist.")
    static let noSuchBucket = S3Failure(404, "NoSuchBucket", "The specified bucket does not exist")
    static let noSuchUpload = S3Failure(404, "NoSuchUpload", "The specified multipart upload does not exist.")
    static let preconditionFailed = S3Failure(
        412,
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold"
    )
    static let accessDenied = S3Failure(403, "AccessDenied", "Access Denied")
    /// Cloudflare R2's refusal of a request without a signature.
    static let noAuthorization = S3Failure(400, "InvalidArgument", "Authorization")
    static let methodNotAllowed = S3Failure(
        405,
        "MethodNotAllowed",
        "The specified method is not allowed against this resource."
    )
    static let malformed = S3Failure(400, "MalformedXML", "The XML you provided was not well-formed")

    /// The error for a feature of the real server that this simulator lacks.
    static func notImplemented(_ name: String) -> S3Failure {
        S3Failure(501, "NotImplemented", "The simulator does not implement \(name) of a bucket.")
    }

    /// The answer.
    var response: HTTPResponse {
        let text = "<Code>\(XMLElement.escaped(code))</Code><Message>\(XMLElement.escaped(message))</Message>"
        return HTTPResponse(
            status: status,
            text: #"<?xml version="1.0" encoding="UTF-8"?><Error>\#(text)<RequestId>SIMULATED</RequestId></Error>"#,
            type: "application/xml"
        )
    }
}
