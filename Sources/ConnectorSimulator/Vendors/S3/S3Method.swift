// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Answers one request about a bucket or an object.
struct S3Method {
    /// The request.
    let request: SimulatedRequest
    /// The object's key; empty if the request is about the bucket.
    let key: ExactText
    /// The buckets; the request may change them.
    var buckets: [String: S3Bucket]
    private let name: String
    private let query: QueryItems

    init(_ request: SimulatedRequest, bucket: String, key: String, in buckets: [String: S3Bucket]) {
        (self.request, name, self.key, self.buckets) = (request, bucket, ExactText(key), buckets)
        query = request.query
    }

    private var bucket: S3Bucket {
        get { buckets[name] ?? S3Bucket() }
        set { buckets[name] = newValue }
    }

    /// Answers the request.
    mutating func respond() throws(S3Failure) -> HTTPResponse {
        guard buckets[name] != nil else { throw .noSuchBucket }
        if key.text.isEmpty {
            guard request.method == "GET" else { throw .methodNotAllowed }
            return request.isHead ? HTTPResponse(status: 200) : try list()
        }
        switch (request.method, query["uploadId"]) {
        case ("GET", nil): return try get()
        case ("PUT", nil): return try request.fields["x-amz-copy-source"] == nil ? put() : copy()
        case ("PUT", let id?): return try putPart(of: id)
        case ("DELETE", nil):
            bucket.objects[key] = nil
            return HTTPResponse(status: 204)
        case ("DELETE", let id?):
            guard bucket.uploads.removeValue(forKey: id) != nil else { throw .noSuchUpload }
            return HTTPResponse(status: 204)
        case ("POST", nil) where query["uploads"] != nil: return createUpload()
        case ("POST", let id?): return try completeUpload(id)
        default: throw .methodNotAllowed
        }
    }

    // MARK: Objects

    private func get() throws(S3Failure) -> HTTPResponse {
        guard let object = bucket.objects[key] else { throw .noSuchKey }
        if let tag = request.fields["If-Match"], tag != object.tag { throw .preconditionFailed }
        var response = HTTPResponse(status: 200, headers: object.fields, body: object.content)
        response.headers["ETag"] = object.tag
        response.headers["Last-Modified"] = object.modified.httpDate
        response.headers["Accept-Ranges"] = "bytes"
        guard !request.isHead else { return response }
        response = response.part(request.fields["Range"])
        if response.status == 416 { throw S3Failure(416, "InvalidRange", "The requested range is not satisfiable") }
        return response
    }

    /// The header fields of the request that its object keeps.
    private var kept: HTTPFields {
        var kept = HTTPFields(
            request.fields.filter { $0.name.lowercased().hasPrefix("x-amz-meta-") || $0.isNamed("Content-Type") }
        )
        if kept["Content-Type"] == nil { kept["Content-Type"] = "binary/octet-stream" }
        return kept
    }

    private func checkConditions() throws(S3Failure) {
        let found = bucket.objects[key]
        if request.fields["If-None-Match"] == "*", found != nil { throw .preconditionFailed }
        guard let tag = request.fields["If-Match"] else { return }
        guard let found else { throw .noSuchKey }
        if found.tag != tag { throw .preconditionFailed }
    }

    private mutating func put() throws(S3Failure) -> HTTPResponse {
        try checkConditions()
        let tag = save(request.body, kept)
        return HTTPResponse(status: 200, headers: ["ETag": tag])
    }

    private mutating func save(_ content: [UInt8], _ fields: HTTPFields) -> String {
        let tag = bucket.makeTag()
        let object = S3Bucket.Object(content: content, tag: tag, modified: request.receivedAt, fields: fields)
        bucket.objects[key] = object
        return tag
    }

    private mutating func copy() throws(S3Failure) -> HTTPResponse {
        let slash = UInt8(ascii: "/")
        let source = PercentCoding.decode(request.fields["x-amz-copy-source"] ?? "").utf8.drop { $0 == slash }
            .split(separator: slash, maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        guard source.count == 2, let object = buckets[source[0]]?.objects[ExactText(source[1])] else {
            throw .noSuchKey
        }
        guard source[0] != name || ExactText(source[1]) != key else {
            throw S3Failure(
                400,
                "InvalidRequest",
                "This copy request is illegal because it is trying to copy an object to itself."
            )
        }
        let tag = save(object.content, object.fields)
        return Self.document("CopyObjectResult", "<ETag>\(XMLElement.escaped(tag))</ETag>")
    }

    /// The parameters of lists. Others name subresources of the bucket, such as `versions` and `location`.
    private static let listParameters: Set = [
        "list-type", "prefix", "delimiter", "max-keys", "encoding-type", "fetch-owner", "start-after",
        "continuation-token", "marker",
    ]

    /// Answers a page of keys: `ListObjectsV2` or, without `list-type`, its predecessor.
    private func list() throws(S3Failure) -> HTTPResponse {
        for item in query.items where !Self.listParameters.contains(item.name) { throw .notImplemented(item.name) }
        guard query["delimiter"] ?? "" == "" else { throw .notImplemented("delimiter") }
        let type = query["list-type"]
        guard type == nil || type == "2" else { throw .notImplemented("list-type") }
        let prefix = query["prefix"] ?? ""
        guard let limit = Int(query["max-keys"] ?? "1000"), limit >= 0 else {
            throw S3Failure(400, "InvalidArgument", "max-keys is not a number")
        }
        let after = ExactText(type == nil ? query["marker"] ?? "" : try continuation ?? query["start-after"] ?? "")
        let found = bucket.objects.filter { $0.key.text.utf8.starts(with: prefix.utf8) && after < $0.key }
            .sorted { $0.key < $1.key }
        let page = found.prefix(min(limit, 1000))
        let contents = page.map { key, object in
            "<Contents>\(Self.element("Key", text: key.text))<LastModified>\(object.modified)</LastModified>"
                + "\(Self.element("ETag", text: object.tag))<Size>\(object.content.count)</Size></Contents>"
        }
        let next = page.count < found.count ? page.last?.key.text : nil
        var head = Self.element("Name", text: name) + Self.element("Prefix", text: prefix)
        head += "<MaxKeys>\(limit)</MaxKeys><IsTruncated>\(next != nil)</IsTruncated>"
        if type == nil {
            head += Self.element("Marker", text: after.text)
            if let next { head += Self.element("NextMarker", text: next) }
        } else {
            head += "<KeyCount>\(page.count)</KeyCount>"
            for (name, parameter) in [("StartAfter", "start-after"), ("ContinuationToken", "continuation-token")] {
                if let value = query[parameter] { head += Self.element(name, text: value) }
            }
            if let next { head += Self.element("NextContinuationToken", text: Base64.encode(Array(next.utf8))) }
        }
        return Self.document("ListBucketResult", head + contents.joined())
    }

    /// The last key of the previous page; nil for the first page. Throws for an invalid token.
    private var continuation: String? {
        get throws(S3Failure) {
            guard let token = query["continuation-token"] else { return nil }
            guard let bytes = Base64.decode(token), let key = String(validating: bytes, as: UTF8.self), !key.isEmpty
            else {
                throw S3Failure(400, "InvalidArgument", "The continuation token provided is incorrect")
            }
            return key
        }
    }

    private static func element(_ name: String, text: String) -> String {
        "<\(name)>\(XMLElement.escaped(text))</\(name)>"
    }

    // MARK: Uploads

    private mutating func createUpload() -> HTTPResponse {
        let id = Identifier.uuid()
        bucket.uploads[id] = S3Bucket.Upload(key: key, fields: kept)
        return Self.document(
            "InitiateMultipartUploadResult",
            "<Bucket>\(name)</Bucket><Key>\(XMLElement.escaped(key.text))</Key><UploadId>\(id)</UploadId>"
        )
    }

    private mutating func putPart(of id: String) throws(S3Failure) -> HTTPResponse {
        guard bucket.uploads[id]?.key == key else { throw .noSuchUpload }
        guard let number = query["partNumber"].flatMap({ Int($0) }), (1...10_000).contains(number) else {
            throw S3Failure(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
        }
        let (tag, content) = (bucket.makeTag(), request.body)
        bucket.uploads[id]?.parts[number] = (content, tag)
        return HTTPResponse(status: 200, headers: ["ETag": tag])
    }

    private mutating func completeUpload(_ id: String) throws(S3Failure) -> HTTPResponse {
        guard let upload = bucket.uploads[id], upload.key == key else { throw .noSuchUpload }
        guard let document = try? XMLElement(parsing: request.body), document.name == "CompleteMultipartUpload",
            !document.all("Part").isEmpty
        else { throw .malformed }
        var (content, last): ([UInt8], Int) = ([], 0)
        let parts = document.all("Part")
        for (index, part) in parts.enumerated() {
            guard let number = part["PartNumber"].flatMap({ Int($0.text) }), let found = upload.parts[number],
                found.tag == part["ETag"]?.text
            else {
                throw S3Failure(400, "InvalidPart", "One or more of the specified parts could not be found.")
            }
            guard number > last else {
                throw S3Failure(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
            }
            guard index == parts.count - 1 || found.content.count >= 5 << 20 else {
                throw S3Failure(
                    400,
                    "EntityTooSmall",
                    "Your proposed upload is smaller than the minimum allowed object size."
                )
            }
            last = number
            content += found.content
        }
        try checkConditions()
        bucket.uploads[id] = nil
        let tag = save(content, upload.fields)
        return Self.document("CompleteMultipartUploadResult", "<ETag>\(XMLElement.escaped(tag))</ETag>")
    }

    private static func document(_ name: String, _ content: String) -> HTTPResponse {
        HTTPResponse(
            status: 200,
            text:
                #"<?xml version="1.0" encoding="UTF-8"?><\#(name) xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\#(content)</\#(name)>"#,
            type: "application/xml"
        )
    }
}
