// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// The requests to a bucket (docs.aws.amazon.com/AmazonS3/latest/API), not yet signed.
struct S3Requests {
    private let bucket: String
    /// The URL of the bucket.
    private let root: HTTPURL

    /// The header with the digest of a file's content, which S3 copies along with the file.
    static let digestField = "x-amz-meta-sha256"
    /// The header with the id of the upload that put a file.
    static let uploadField = "x-amz-meta-upload"

    init(endpoint: HTTPURL, bucket: String, isVirtualHost: Bool) throws(PluginError) {
        guard endpoint.description.utf8.allSatisfy({ $0 != UInt8(ascii: "?") }) else {
            throw PluginError(.invalid, "endpoint must be a URL without a query", domain: "s3")
        }
        guard (1...255).contains(bucket.utf8.count), bucket.utf8.allSatisfy(\.isUnreserved), bucket != ".",
            bucket != ".."
        else {
            throw PluginError(.invalid, "bucket must be a name of letters, digits, - and .", domain: "s3")
        }
        self.bucket = bucket
        root = isVirtualHost ? endpoint : endpoint.appending(bucket)
    }

    func head(_ path: String) -> HTTPRequest { HTTPRequest(.head, url(path)) }

    func get(_ path: String, from offset: UInt64, count: Int, tag: String?) -> HTTPRequest {
        var request = HTTPRequest(.get, url(path))
        request.headers["Range"] = "bytes=\(offset)-\(offset + UInt64(count) - 1)"
        request.headers["If-Match"] = tag.flatMap { EntityTag.field($0) }
        return request
    }

    /// A request for a page of a list with encoded keys, because XML cannot express every character.
    func list(prefix: String, after: String, limit: Int) -> HTTPRequest {
        // Some servers return an empty list if `start-after` sorts before the prefix.
        let isBefore = after.isEmpty || after.utf8.lexicographicallyPrecedes(prefix.utf8)
        let url = bucketURL.with("list-type", "2").with("encoding-type", "url").with("max-keys", "\(limit)")
        return HTTPRequest(
            .get,
            url.with("prefix", prefix.isEmpty ? nil : prefix).with("start-after", isBefore ? nil : after)
        )
    }

    /// A request that lists one file, for a proof.
    var listOfOne: HTTPRequest { list(prefix: "", after: "", limit: 1) }

    func put(_ content: [UInt8], _ upload: FileUploadRequest, id: String, digest: String) -> HTTPRequest {
        var request = HTTPRequest(.put, url(upload.path), headers: conditions(upload), body: content)
        request.headers["Content-Type"] = upload.contentType
        request.headers[Self.uploadField] = id
        request.headers[Self.digestField] = digest
        return request
    }

    func createUpload(_ upload: FileUploadRequest, id: String) -> HTTPRequest {
        var request = HTTPRequest(.post, url(upload.path).with("uploads", ""))
        request.headers["Content-Type"] = upload.contentType
        request.headers[Self.uploadField] = id
        return request
    }

    func part(_ content: [UInt8], number: Int, of id: String, at path: String) -> HTTPRequest {
        HTTPRequest(.put, url(path).with("partNumber", "\(number)").with("uploadId", id), body: content)
    }

    /// A request that assembles a file from its parts.
    ///
    /// - Parameter tags: The `ETag` fields of the answers to the parts, in order.
    func completeUpload(_ upload: FileUploadRequest, id: String, tags: [String]) -> HTTPRequest {
        let parts = tags.enumerated().map { index, tag in
            "<Part><PartNumber>\(index + 1)</PartNumber><ETag>\(XMLElement.escaped(tag))</ETag></Part>"
        }
        let document =
            #"<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\#(parts.joined())</CompleteMultipartUpload>"#
        var request = HTTPRequest(
            .post,
            url(upload.path).with("uploadId", id),
            headers: conditions(upload),
            body: Array(document.utf8)
        )
        request.headers["Content-Type"] = "application/xml"
        return request
    }

    func abortUpload(_ id: String, at path: String) -> HTTPRequest {
        HTTPRequest(.delete, url(path).with("uploadId", id))
    }

    func remove(_ path: String) -> HTTPRequest { HTTPRequest(.delete, url(path)) }

    func copy(_ source: String, to destination: String) -> HTTPRequest {
        let path = Self.segments(of: source).reduce("/\(bucket)") { "\($0)/\(PercentCoding.encode($1))" }
        return HTTPRequest(.put, url(destination), headers: ["x-amz-copy-source": path])
    }

    private func conditions(_ upload: FileUploadRequest) -> HTTPFields {
        switch upload.condition {
        case .any: [:]
        case .absent: ["If-None-Match": "*"]
        case .tag(let tag): ["If-Match": EntityTag.field(tag) ?? "\"\""]
        }
    }

    /// The URL of the bucket itself, for lists: a host alone needs a path before the query.
    private var bucketURL: HTTPURL { root.description == root.origin ? root.appending(path: "/") : root }

    private func url(_ path: String) -> HTTPURL {
        Self.segments(of: path).reduce(root) { $0.appending($1) }
    }

    /// The names in a path. Splits by bytes, because to Swift a slash with an accent after it is a different character.
    private static func segments(of path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }
}
