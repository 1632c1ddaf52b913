// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer
internal import Synchronization

/// Amazon S3: buckets, objects, multipart uploads, lists with pages and delimiters, copies, conditions, and signatures of version 4
/// in headers, presigned URLs and chunks.
///
/// The buckets named by the accepted credentials exist from the start. If a request's credentials say that the host names the bucket,
/// its path does not. If any credentials are for the region `auto`, which is Cloudflare R2's, a request without a signature is refused
/// as R2 refuses it. A request with a signed header may be of any age. There are no versions, tags, access lists, encryption and
/// uploads of forms: requests for them are refused, and change nothing. Source: the API reference of Amazon S3.
final class S3Vendor: Vendor {
    static let name = "s3"
    static let demoCredentials = [
        "bucket": "demo", "accessKey": "demo-access-key", "secretKey": "demo-secret-key",
    ]
    static let secretKeys = ["accessKey", "secretKey", "sessionToken"]
    static let storesEncodedBodies = true

    private let credentials: AcceptedCredentials
    private let buckets: Mutex<[String: S3Bucket]>

    init(credentials: AcceptedCredentials) {
        self.credentials = credentials
        buckets = Mutex([:])
        for set in credentials.sets { prepare(for: set) }
    }

    func prepare(for set: [String: String]) {
        guard let name = set["bucket"] else { return }
        buckets.withLock { $0[name] = $0[name] ?? S3Bucket() }
    }

    func respond(to request: SimulatedRequest) -> HTTPResponse {
        do throws(S3Failure) {
            let (set, request) = try authenticate(request)
            let (bucket, key) = Self.place(request.path, ofBucket: set["virtualHost"] == "true" ? set["bucket"] : nil)
            return try buckets.withLock { buckets throws(S3Failure) in
                let region = set["region"] ?? "us-east-1"
                var method = S3Method(request, bucket: bucket, key: key, in: buckets, region: region)
                defer { buckets = method.buckets }
                return try method.respond()
            }
        } catch {
            return error.response
        }
    }

    /// The bucket and the key of a path. A key may begin and end with slashes, and may have several in a row.
    ///
    /// - Parameter bucket: The bucket that the host names; nil if the path names it.
    static func place(_ path: String, ofBucket bucket: String?) -> (bucket: String, key: String) {
        let path = Substring(path).utf8.dropFirst()
        if let bucket { return (bucket, PercentCoding.decode(Substring(path))) }
        let name = path.prefix { $0 != UInt8(ascii: "/") }
        return (PercentCoding.decode(Substring(name)), PercentCoding.decode(Substring(path.dropFirst(name.count + 1))))
    }

    /// The accepted credentials that a request was signed with, and the request with its content as the body; throws if there are none.
    private func authenticate(
        _ request: SimulatedRequest
    ) throws(S3Failure) -> (set: [String: String], request: SimulatedRequest) {
        // Its signature is in the form, and covers the policy.
        if request.method == "POST", request.mediaType == "multipart/form-data" {
            throw .notImplemented("uploads of forms")
        }
        if request.fields["Authorization"] == nil, request.query["X-Amz-Signature"] == nil,
            credentials.accepts("region", "auto")
        {
            throw .noAuthorization
        }
        let authorization = try S3Authorization(request)
        let sets = credentials.sets.filter { $0["accessKey"] == authorization.accessKey }
        guard !sets.isEmpty else {
            throw S3Failure(
                403,
                "InvalidAccessKeyId",
                "The AWS Access Key Id you provided does not exist in our records."
            )
        }
        var refusal = S3Failure.accessDenied
        for set in sets {
            do throws(S3Failure) {
                let token = set["sessionToken"]
                return (set, try authorization.checked(secretKey: set["secretKey"] ?? "", sessionToken: token))
            } catch {
                refusal = error
            }
        }
        throw refusal
    }

    func failure(status: Int?, code: String?, message: String?) -> HTTPResponse {
        let status = status ?? 500
        let usual: (code: String, message: String) =
            switch status {
            case 400: ("InvalidRequest", "Bad Request")
            case 401, 403: ("AccessDenied", "Access Denied")
            case 404: ("NoSuchKey", "The specified key does not exist.")
            case 412: ("PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
            case 413: ("EntityTooLarge", "Your proposed upload exceeds the maximum allowed object size.")
            case 429, 503: ("SlowDown", "Please reduce your request rate.")
            default: ("InternalError", "We encountered an internal error. Please try again.")
            }
        return S3Failure(status, code ?? usual.code, message ?? usual.message).response
    }
}
