// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Answers one request about a bucket or an object.
struct S3Method {
    /// The request.
    let request: SimulatedRequest
    /// The key of the object; empty for the bucket.
    let key: String
    /// The buckets; the request may change them.
    var buckets: [String: S3Bucket]
    private let name: String
    private let query: QueryItems

    init(_ request: SimulatedRequest, bucket: String, key: String, in buckets: [String: S3Bucket]) {
        (self.request, name, self.key, self.buckets) = (request, bucket, key, buckets)
        query = request.query
    }

    private var bucket: S3Bucket {
        get { buckets[name] ?? S3Bucket() }
        set { buckets[name] = newValue }
    }

    /// Answers the request.
    mutating func respond() throws(S3Failure) -> HTTPResponse {
        guard buckets[name] != nil else { throw .noSuchBucket }
        if key.isEmpty {
            guard request.method == "GET" else { throw .methodNotAllowed }
            return query["list-type"] == "2" ? try list() : HTTPResponse(status: 200)
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

    /// The fields that an object keeps of the request that made it.
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
        let source = PercentCoding.decode(request.fields["x-amz-copy-source"] ?? "").drop { $0 == "/" }
            .utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1).map { String(decoding: $0, as: UTF8.self) }
        guard source.count == 2, let object = buckets[source[0]]?.objects[source[1]] else { throw .noSuchKey }
        guard source != [name, key] else {
            throw S3Failure(
                400,
                "InvalidRequest",
                "This copy request is illegal because it is trying to copy an object to itself."
            )
        }
        let tag = save(object.content, object.fields)
        return Self.document("CopyObjectResult", "<ETag>\(XMLElement.escaped(tag))</ETag>")
    }

    private func list() throws(S3Failure) -> HTTPResponse {
        let (prefix, after) = (query["prefix"] ?? "", query["start-after"] ?? "")
        guard let limit = Int(query["max-keys"] ?? "1000"), limit >= 0 else {
            throw S3Failure(400, "InvalidArgument", "max-keys is not a number")
        }
        let found = bucket.objects
            .filter { $0.key.utf8.starts(with: prefix.utf8) && after.utf8.lexicographicallyPrecedes($0.key.utf8) }
            .sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        let page = found.prefix(min(limit, 1000))
        let contents = page.map { key, object in
            "<Contents><Key>\(XMLElement.escaped(key))</Key><LastModified>\(object.modified)</LastModified>"
                + "<ETag>\(XMLElement.escaped(object.tag))</ETag><Size>\(object.content.count)</Size></Contents>"
        }
        let head =
            "<Name>\(name)</Name><Prefix>\(XMLElement.escaped(prefix))</Prefix><KeyCount>\(page.count)</KeyCount>"
            + "<MaxKeys>\(limit)</MaxKeys><IsTruncated>\(page.count < found.count)</IsTruncated>"
        return Self.document("ListBucketResult", head + contents.joined())
    }

    // MARK: Uploads

    private mutating func createUpload() -> HTTPResponse {
        let id = Identifier.uuid()
        bucket.uploads[id] = S3Bucket.Upload(key: key, fields: kept)
        return Self.document(
            "InitiateMultipartUploadResult",
            "<Bucket>\(name)</Bucket><Key>\(XMLElement.escaped(key))</Key><UploadId>\(id)</UploadId>"
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
