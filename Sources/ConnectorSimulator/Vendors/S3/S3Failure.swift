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

    /// Creates an error.
    init(_ status: Int, _ code: String, _ message: String) {
        (self.status, self.code, self.message) = (status, code, message)
    }

    /// There is no such object.
    static let noSuchKey = S3Failure(404, "NoSuchKey", "The specified key does not exist.")
    /// There is no such bucket.
    static let noSuchBucket = S3Failure(404, "NoSuchBucket", "The specified bucket does not exist")
    /// There is no such upload; it may have ended.
    static let noSuchUpload = S3Failure(404, "NoSuchUpload", "The specified multipart upload does not exist.")
    /// A condition of the request is not met.
    static let preconditionFailed = S3Failure(
        412,
        "PreconditionFailed",
        "At least one of the pre-conditions you specified did not hold"
    )
    /// The signature is not that of the request.
    static let signatureDoesNotMatch = S3Failure(
        403,
        "SignatureDoesNotMatch",
        "The request signature we calculated does not match the signature you provided."
    )
    /// The refusal of signatures of version 2, as by buckets made since 2020.
    static let otherMechanism = S3Failure(
        400,
        "InvalidRequest",
        "The authorization mechanism you have provided is not supported. Please use AWS4-HMAC-SHA256."
    )
    /// The body ends too early, or its size is wrong.
    static let incompleteBody = S3Failure(
        400,
        "IncompleteBody",
        "The request body terminated unexpectedly or does not have the size that its header states."
    )
    /// The request has no signature.
    static let accessDenied = S3Failure(403, "AccessDenied", "Access Denied")
    /// Cloudflare R2's refusal of a request without a signature.
    static let noAuthorization = invalid("Authorization")
    /// Nothing is done with this method.
    static let methodNotAllowed = S3Failure(
        405,
        "MethodNotAllowed",
        "The specified method is not allowed against this resource."
    )
    /// The refusal of a parameter's or a field's value.
    static func invalid(_ message: String) -> S3Failure { S3Failure(400, "InvalidArgument", message) }

    /// The body is not the document that it must be.
    static let malformed = S3Failure(400, "MalformedXML", "The XML you provided was not well-formed")

    /// The error for a feature of the real server that this simulator lacks.
    static func notImplemented(_ name: String) -> S3Failure {
        S3Failure(501, "NotImplemented", "The simulator does not implement \(name).")
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
