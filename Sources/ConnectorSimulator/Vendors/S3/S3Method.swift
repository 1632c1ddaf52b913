// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Answers one request about the buckets, one bucket or an object. What it does not implement, it refuses.
struct S3Method {
    /// The request.
    let request: SimulatedRequest
    /// The object's key; empty if the request is about the bucket.
    let key: ExactText
    /// The buckets; the request may change them.
    var buckets: [String: S3Bucket]
    /// The name of the bucket; empty if the request is about all of them.
    let name: String
    /// The names and values after the `?`.
    let query: QueryItems
    /// The region of the buckets.
    let region: String

    /// Prepares the answer to a request with a valid signature.
    init(
        _ request: SimulatedRequest,
        bucket: String,
        key: String,
        in buckets: [String: S3Bucket],
        region: String = "us-east-1"
    ) {
        (self.request, name, self.key, self.buckets) = (request, bucket, ExactText(key), buckets)
        (query, self.region) = (request.query, region)
    }

    /// The bucket of the request.
    var bucket: S3Bucket {
        get { buckets[name] ?? S3Bucket() }
        set { buckets[name] = newValue }
    }

    /// Answers the request.
    mutating func respond() throws(S3Failure) -> HTTPResponse {
        try checkFields()
        let parameters = parameters
        if name.isEmpty {
            if let other = parameters.first { throw .notImplemented(other) }
            guard request.method == "GET" else { throw .methodNotAllowed }
            return listBuckets()
        }
        if key.text.isEmpty, request.method == "PUT", parameters.isEmpty { return try createBucket() }
        guard buckets[name] != nil else { throw .noSuchBucket }
        return try key.text.isEmpty ? respondAboutBucket(parameters) : respondAboutObject(parameters)
    }

    /// Answers a request about a bucket that exists.
    private mutating func respondAboutBucket(_ parameters: [String]) throws(S3Failure) -> HTTPResponse {
        switch (request.method, parameters) {
        case ("GET", ["location"]):
            return Self.document("LocationConstraint", region == "us-east-1" ? "" : XMLElement.escaped(region))
        case ("GET", ["versioning"]): return Self.document("VersioningConfiguration", "")
        case ("GET", _) where Self.listParameters.isSuperset(of: parameters):
            return request.isHead ? HTTPResponse(status: 200, headers: ["x-amz-bucket-region": region]) : try list()
        case ("POST", ["delete"]): return try removeObjects()
        case ("DELETE", []):
            guard bucket.objects.isEmpty else {
                throw S3Failure(409, "BucketNotEmpty", "The bucket you tried to delete is not empty")
            }
            buckets[name] = nil
            return HTTPResponse(status: 204)
        default: throw refusal(parameters, Self.listParameters)
        }
    }

    /// Answers a request about an object of a bucket that exists.
    private mutating func respondAboutObject(_ parameters: [String]) throws(S3Failure) -> HTTPResponse {
        guard key.text.utf8.count <= 1024 else { throw S3Failure(400, "KeyTooLongError", "Your key is too long") }
        switch (request.method, parameters) {
        case ("GET", []): return try object()
        case ("PUT", []): return try request.fields["x-amz-copy-source"] == nil ? put() : copy()
        case ("DELETE", []): return try remove()
        case ("POST", ["uploads"]): return createUpload()
        case ("PUT", ["partNumber", "uploadId"]): return try putPart()
        case ("DELETE", ["uploadId"]): return try abortUpload()
        case ("POST", ["uploadId"]): return try completeUpload()
        case ("GET", _) where parameters.contains("uploadId") && Self.partParameters.isSuperset(of: parameters):
            return try listParts()
        default: throw refusal(parameters, Self.partParameters)
        }
    }

    /// The refusal of a request that is not one of those above: its parameters name something that is not implemented.
    private func refusal(_ parameters: [String], _ known: Set<String>) -> S3Failure {
        let other = parameters.first { !known.contains($0) } ?? parameters.first
        return other.map { .notImplemented($0) } ?? .methodNotAllowed
    }

    // MARK: Parameters and fields

    /// The parameters of lists.
    private static let listParameters: Set = [
        "list-type", "prefix", "delimiter", "max-keys", "encoding-type", "fetch-owner", "start-after",
        "continuation-token", "marker",
    ]
    /// The parameters of uploads and their parts.
    private static let partParameters: Set = [
        "uploadId", "partNumber", "uploads", "max-parts", "part-number-marker", "encoding-type",
    ]
    /// The fields of an answer that a request for an object may set, by the names of the parameters.
    static let answerFields = [
        "response-content-type": "Content-Type", "response-content-language": "Content-Language",
        "response-expires": "Expires", "response-cache-control": "Cache-Control",
        "response-content-disposition": "Content-Disposition", "response-content-encoding": "Content-Encoding",
    ]

    /// The names of the parameters, sorted, without those that change nothing or only fields of the answer.
    private var parameters: [String] {
        query.items.filter { item in
            item.name != "x-id" && !item.name.starts(ascii: "X-Amz-")
                && (item.name != "versionId" || item.value != "null")
                && (key.text.isEmpty || request.method != "GET" || Self.answerFields[item.name] == nil)
        }.map(\.name).sorted()
    }

    /// The fields `x-amz-…` of requests that are implemented, or that ask for what is so anyway.
    private static let knownFields: Set = [
        "x-amz-date", "x-amz-content-sha256", "x-amz-security-token", "x-amz-decoded-content-length", "x-amz-trailer",
        "x-amz-user-agent", "x-amz-request-payer", "x-amz-copy-source", "x-amz-metadata-directive",
        "x-amz-tagging-directive", "x-amz-copy-source-range", "x-amz-copy-source-if-match",
        "x-amz-copy-source-if-none-match", "x-amz-copy-source-if-modified-since",
        "x-amz-copy-source-if-unmodified-since", "x-amz-mp-object-size",
    ]

    /// The most bytes of an object's own metadata, names without their prefix and values together.
    private static let metadataLimit = 2048

    /// Throws if the request has too much metadata, or asks for something in a field that is not implemented, such as encryption.
    private func checkFields() throws(S3Failure) {
        var metadata = 0
        for field in request.fields {
            let name = field.name.lowercased()
            if name.starts(ascii: "x-amz-meta-") {
                metadata += name.utf8.count - "x-amz-meta-".utf8.count + field.value.utf8.count
            }
            guard metadata <= Self.metadataLimit else {
                let message = "Your metadata headers exceed the maximum allowed metadata size"
                throw S3Failure(400, "MetadataTooLarge", message)
            }
            guard name.starts(ascii: "x-amz-"), !Self.knownFields.contains(name) else { continue }
            switch name {
            case "x-amz-storage-class" where field.value == "STANDARD": break
            case "x-amz-acl":
                guard ["private", "bucket-owner-full-control"].contains(field.value) else {
                    throw S3Failure(400, "AccessControlListNotSupported", "The bucket does not allow ACLs")
                }
            case let name
            where ["x-amz-meta-", "x-amz-checksum-", "x-amz-sdk-"].contains(where: { name.starts(ascii: $0) }): break
            default: throw .notImplemented(name)
            }
        }
    }

    // MARK: Answers

    /// An element with a text.
    static func element(_ name: String, text: String) -> String {
        "<\(name)>\(XMLElement.escaped(text))</\(name)>"
    }

    /// The answer with a document.
    static func document(_ name: String, _ content: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            text:
                #"<?xml version="1.0" encoding="UTF-8"?><\#(name) xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\#(content)</\#(name)>"#,
            type: "application/xml"
        )
    }

    /// The root element of the request's body.
    func body(_ name: String) throws(S3Failure) -> XMLElement {
        guard let document = try? XMLElement(parsing: request.body), document.name == name else { throw .malformed }
        return document
    }
}
