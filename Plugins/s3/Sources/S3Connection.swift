// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// Signs and sends requests, reads documents, and converts refusals to errors.
struct S3Connection: Sendable {
    private let host: Host
    private let signature: S3Signature
    private let bucket: String
    /// The codes of refusals after which the same request may succeed.
    var repeatableCodes: Set<String> = ["ConditionalRequestConflict", "OperationAborted"]

    init(host: Host, signature: S3Signature, bucket: String) {
        (self.host, self.signature, self.bucket) = (host, signature, bucket)
    }

    /// Sends a request.
    ///
    /// - Parameter statuses: The statuses that are not errors.
    /// - Throws: The error for any other status.
    @discardableResult
    func send(_ request: HTTPRequest, accepting statuses: [Int]) async throws(PluginError) -> HTTPResponse {
        var request = signature.signed(request, at: host.clock.now)
        // Not signed, because proxies change it. A range of a compressed answer would be a range of other bytes.
        request.headers["Accept-Encoding"] = "identity"
        // The signature is for one host, and S3 says in a redirect which region and which endpoint the bucket has.
        request.keepsOrigin = true
        let response = try await host.http.send(request)
        guard statuses.contains(response.status) else { throw failure(response, to: request) }
        return response
    }

    /// Sends a request about a file.
    ///
    /// - Returns: The response; nil if there is no such file.
    /// - Throws: Also the error for a bucket that is gone, unless the answer has no body, as one to HEAD.
    func response(to request: HTTPRequest, accepting statuses: [Int]) async throws(PluginError) -> HTTPResponse? {
        let response = try await send(request, accepting: statuses + [404])
        guard response.status == 404 else { return response }
        if (try? XMLElement(parsing: response.body))?["Code"]?.text == Self.missingBucket {
            throw failure(response, to: request)
        }
        return nil
    }

    /// Checks that the bucket is there, which the answer to HEAD does not say of a missing file.
    func checkBucket(_ requests: S3Requests) async throws(PluginError) {
        _ = try await document(S3Page.name, of: requests.listOfOne)
    }

    /// Sends a request whose answer is a document.
    ///
    /// - Throws: Also the error in a document: S3 answers a long request with status 200 before the outcome is known.
    func document(_ name: String, of request: HTTPRequest) async throws(PluginError) -> XMLElement {
        let response = try await send(request, accepting: [200])
        let document: XMLElement
        do throws(ConnectorError) {
            document = try XMLElement(parsing: response.body)
        } catch {
            let position = error.position.map { " at \($0)" } ?? ""
            throw violation("the answer is not XML\(position): \(error.message)", response)
        }
        if document.name == "Error" {
            // The simplest servers answer so, whatever happened.
            guard document["Code"]?.text.isEmpty == false else {
                throw violation("the answer is an error without a code", response)
            }
            throw failure(response, document)
        }
        // The service lists the buckets of the credentials at an address that names none of them.
        guard document.name != "ListAllMyBucketsResult" else {
            throw PluginError(
                .invalid,
                "the endpoint names no bucket: with virtualHost, it must be the bucket's own, such as https://BUCKET.HOST",
                domain: "s3",
                detail: Int32(clamping: response.status)
            )
        }
        guard document.name == name else {
            throw violation("the answer is <\(document.name.prefix(40))>, and no <\(name)>", response)
        }
        return document
    }

    /// The error for an answer that breaks the protocol.
    func violation(_ message: String, _ response: HTTPResponse) -> PluginError {
        PluginError(.protocolViolation, message, domain: "s3", detail: Int32(clamping: response.status))
    }

    // MARK: Errors

    private func failure(_ response: HTTPResponse, to request: HTTPRequest) -> PluginError {
        let document = try? XMLElement(parsing: response.body)
        if let document, document.name == "Error", document["Code"] != nil, response.status >= 300 {
            return failure(response, document)
        }
        guard response.status >= 300 || response.isPage else {
            let path = request.url.description.dropFirst(request.url.origin.count).prefix { $0 != "?" }
            let words = response.body.isEmpty ? "" : ": \(response.excerpt)"
            return violation(
                "S3 does not answer \(request.method.rawValue) \(path) with HTTP \(response.status)\(words)",
                response
            )
        }
        // The answer to HEAD has no document.
        if response.isRedirect, response.headers[Self.regionField] != nil { return failure(response, nil) }
        var failure = response.failure(vendor: "s3", now: host.clock.now)
        // The answer to HEAD has no words.
        guard request.method == .head else { return failure }
        switch response.status {
        case 400:
            // The request has nothing else to object to.
            failure.status = .unauthorized
            failure.message += "; the credentials may have expired, or the region be another one"
        case 403:
            failure.message +=
                "; the credentials may be wrong or lack a permission (without s3:ListBucket, this may be a missing file), "
            failure.message += "or this machine's clock may be off"
        default: break
        }
        return failure
    }

    /// The error for a document that says why, or for a redirect without one.
    private func failure(_ response: HTTPResponse, _ document: XMLElement?) -> PluginError {
        func text(_ name: String) -> String? { document?[name]?.text.isEmpty == false ? document?[name]?.text : nil }
        let redirect = response.status == 301 ? "PermanentRedirect" : "TemporaryRedirect"
        let code = document == nil ? redirect : text("Code") ?? ""
        // Ceph's errors have no message.
        let message = document == nil ? "the bucket has another endpoint" : text("Message") ?? ""
        var words = [code, message].filter { !$0.isEmpty }.joined(separator: ": ")
        let header = response.isRedirect ? response.headers : [:]
        let places = [
            ("Region", header[Self.regionField]), ("BucketName", code == Self.missingBucket ? bucket : nil),
            ("Endpoint", header["Location"].flatMap { URLParts($0) }?.authority),
        ]
        for (name, other) in places {
            if let place = text(name) ?? other { words += "; \(name) \(place)" }
        }
        // Leave out the body, which looks like a web page.
        let bare = HTTPResponse(status: max(400, response.status), headers: response.headers)
        var failure = bare.failure(vendor: "s3", words: String(words.prefix(300)), now: host.clock.now)
        failure.detail = Int32(clamping: response.status)
        if response.status < 400 { failure.message = "s3 answered HTTP \(response.status): \(words.prefix(300))" }
        switch code {
        case "RequestTimeTooSkewed": failure.message += "; set this machine's clock"
        case "ExpiredToken": failure.message += "; renew accessKey, secretKey and sessionToken"
        case "AuthorizationHeaderMalformed":
            guard let region = text("Region") else { break }
            (failure.status, failure.message) = (.invalid, failure.message + "; set \"region\" to \(region.prefix(40))")
            return failure
        default: break
        }
        if Self.exceededQuotas.contains(code) {
            (failure.status, failure.isRetryable) = (.unavailable, false)
            failure.message += "; raise the quota of the bucket or its user, or remove files"
            return failure
        }
        // MinIO gives it several codes.
        if response.status == 507 { failure.isRetryable = false }
        // A 403 with any other code refuses the request itself, not its signature.
        let denied: PluginStatus? = response.status == 403 && !code.isEmpty ? .denied : nil
        guard let status = Self.statuses[code] ?? denied else { return failure }
        return PluginError(
            status,
            failure.message,
            isRetryable: code == Self.missingBucket ? false : repeatableCodes.contains(code) ? true : nil,
            retryAfter: failure.retryAfter,
            domain: failure.domain,
            detail: failure.detail
        )
    }

    /// The code for a bucket that is gone, which says nothing of the files that were in it.
    private static let missingBucket = "NoSuchBucket"

    /// The header with the region of a bucket that is asked for in another one.
    private static let regionField = "x-amz-bucket-region"

    /// The codes of Ceph and MinIO for a bucket or a user whose quota is used up, with a status that blames credentials or the request.
    private static let exceededQuotas: Set = ["QuotaExceeded", "XMinioAdminBucketQuotaExceeded"]

    /// The errors whose HTTP status says too little (docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html).
    private static let statuses: [String: PluginStatus] = [
        "AccessDenied": .denied, "AllAccessDisabled": .denied, "AccountProblem": .denied,
        "InvalidAccessKeyId": .unauthorized, "SignatureDoesNotMatch": .unauthorized, "ExpiredToken": .unauthorized,
        "InvalidToken": .unauthorized, "InvalidSecurity": .unauthorized, "RequestTimeTooSkewed": .failed,
        "AuthorizationHeaderMalformed": .unauthorized, "PermanentRedirect": .invalid,
        "NoSuchKey": .notFound, "NoSuchUpload": .notFound, missingBucket: .unavailable,
        "PreconditionFailed": .conflict, "ConditionalRequestConflict": .conflict, "OperationAborted": .conflict,
        "SlowDown": .rateLimited, "SlowDownRead": .rateLimited, "SlowDownWrite": .rateLimited,
        "TooManyRequests": .rateLimited, "RequestLimitExceeded": .rateLimited,
        "InternalError": .unavailable, "ServiceUnavailable": .unavailable, "TemporaryRedirect": .unavailable,
        "RequestTimeout": .timedOut, "EntityTooLarge": .tooLarge, "NotImplemented": .unsupported,
        "BadDigest": .unavailable, "XAmzContentSHA256Mismatch": .unavailable, "IncompleteBody": .unavailable,
    ]
}

extension HTTPResponse {
    fileprivate var isRedirect: Bool { (300..<400).contains(status) }
}
