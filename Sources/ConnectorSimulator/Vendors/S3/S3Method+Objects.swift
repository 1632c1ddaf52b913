// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Reads, puts, copies and removes objects.
extension S3Method {
    /// Answers an object, or the range of it that the request asks for.
    func object() throws(S3Failure) -> HTTPResponse {
        guard let object = bucket.objects[key] else { throw .noSuchKey }
        var response = HTTPResponse(status: 200, headers: object.fields, body: object.content)
        if request.fields["x-amz-checksum-mode"] != "ENABLED" { S3Checksum.remove(from: &response.headers) }
        for item in query.items {
            if let name = Self.answerFields[item.name] { response.headers[name] = item.value }
        }
        response.headers["ETag"] = object.tag
        response.headers["Last-Modified"] = object.modified.httpDate
        response.headers["Accept-Ranges"] = "bytes"
        switch refusal(of: object) {
        case 412: throw .preconditionFailed
        case 304:
            (response.status, response.body) = (304, [])
            return response
        default: break
        }
        response = response.part(request.fields["Range"])
        // A checksum is the whole object's.
        if response.status == 206 { S3Checksum.remove(from: &response.headers) }
        if response.status == 416 { throw S3Failure(416, "InvalidRange", "The requested range is not satisfiable") }
        return response
    }

    /// The status of the refusal of an object by conditions; nil if it meets them.
    ///
    /// - Parameter prefix: The beginning of the fields' names.
    private func refusal(of object: S3Bucket.Object, prefix: String = "") -> Int? {
        request.refusal(tag: object.tag, modified: object.modified, prefix: prefix, takesBareTags: true)
    }

    /// Whether a field such as `If-Match` names a tag, with or without its quotes.
    static func names(_ tag: String, _ field: String) -> Bool {
        field == "*" || field.split(ascii: ",").contains { EntityTag.tag(String($0)) == EntityTag.tag(tag) }
    }

    /// The header fields of the request that its object keeps.
    var kept: HTTPFields {
        let names: Set = ["content-type", "content-disposition", "content-language", "cache-control", "expires"]
        var kept = HTTPFields(
            request.fields.filter { field in
                let name = field.name.lowercased()
                return name.starts(ascii: "x-amz-meta-") || names.contains(name) || S3Checksum.names.contains(name)
            }
        )
        if kept["Content-Type"] == nil { kept["Content-Type"] = "binary/octet-stream" }
        let codings = (request.fields["Content-Encoding"] ?? "").split(ascii: ",").map { $0.trimmingBlanks() }
            .filter { $0 != "aws-chunked" }
        if !codings.isEmpty { kept["Content-Encoding"] = codings.joined(separator: ",") }
        return kept
    }

    /// Throws unless what is there now meets the conditions of a change.
    func checkConditions() throws(S3Failure) {
        let found = bucket.objects[key]
        if let field = request.fields["If-None-Match"] {
            guard field == "*" else { throw .notImplemented("If-None-Match with a tag here") }
            if found != nil { throw .preconditionFailed }
        }
        guard let field = request.fields["If-Match"] else { return }
        guard let found else { throw .noSuchKey }
        if !Self.names(found.tag, field) { throw .preconditionFailed }
    }

    /// Puts an object.
    mutating func put() throws(S3Failure) -> HTTPResponse {
        try checkConditions()
        try S3Checksum.check(request.body, request.fields)
        return stored(save(request.body, S3Bucket.tag(MD5.digest(of: request.body)), kept))
    }

    /// The answer that the body was stored, with its tag and the checksums that came with it.
    func stored(_ tag: String) -> HTTPResponse {
        let tag = HTTPField(name: "ETag", value: tag)
        return HTTPResponse(status: 200, headers: HTTPFields([tag] + S3Checksum.values(of: request.fields)))
    }

    /// Stores an object, and returns its tag.
    mutating func save(_ content: [UInt8], _ tag: String, _ fields: HTTPFields) -> String {
        let object = S3Bucket.Object(content: content, tag: tag, modified: request.receivedAt, fields: fields)
        bucket.objects[key] = object
        return tag
    }

    /// Removes the object, if there is one.
    mutating func remove() throws(S3Failure) -> HTTPResponse {
        try checkConditions()
        bucket.objects[key] = nil
        return HTTPResponse(status: 204)
    }

    /// Removes the objects that the body names.
    mutating func removeObjects() throws(S3Failure) -> HTTPResponse {
        guard
            request.fields.contains(where: {
                $0.isNamed("Content-MD5") || $0.name.lowercased().hasPrefix("x-amz-checksum-")
            })
        else {
            throw S3Failure(400, "InvalidRequest", "Missing required header for this request: Content-MD5")
        }
        try S3Checksum.check(request.body, request.fields)
        let document = try body("Delete")
        let objects = document.all("Object")
        guard (1...1000).contains(objects.count), objects.allSatisfy({ $0["Key"]?.text.isEmpty == false }) else {
            throw .malformed
        }
        var outcomes = ""
        for object in objects {
            let key = Self.element("Key", text: object["Key"]?.text ?? "")
            // Anything else is a condition.
            if let other = object.children.first(where: { $0.name != "Key" && $0.text != "null" }) {
                let failure = S3Failure.notImplemented(other.name)
                outcomes += "<Error>\(key)\(Self.element("Code", text: failure.code))"
                outcomes += "\(Self.element("Message", text: failure.message))</Error>"
                continue
            }
            bucket.objects[ExactText(object["Key"]?.text ?? "")] = nil
            if document["Quiet"]?.text != "true" { outcomes += "<Deleted>\(key)</Deleted>" }
        }
        return Self.document("DeleteResult", outcomes)
    }

    // MARK: Copies

    /// Copies an object.
    mutating func copy() throws(S3Failure) -> HTTPResponse {
        let source = try source()
        let replaces = request.fields["x-amz-metadata-directive"] == "REPLACE"
        guard replaces || !source.isTarget else {
            let message = "This copy request is illegal because it is trying to copy an object to itself."
            throw S3Failure(400, "InvalidRequest", message)
        }
        try checkConditions()
        let tag = S3Bucket.tag(MD5.digest(of: source.object.content))
        return copied("CopyObjectResult", save(source.object.content, tag, replaces ? kept : source.object.fields))
    }

    /// The answer to a copy.
    func copied(_ name: String, _ tag: String) -> HTTPResponse {
        let time = "<LastModified>\(request.receivedAt)</LastModified>"
        return Self.document(name, "\(time)\(Self.element("ETag", text: tag))")
    }

    /// The object that the request copies, and whether it is the object of the request itself.
    func source() throws(S3Failure) -> (object: S3Bucket.Object, isTarget: Bool) {
        let parts = (request.fields["x-amz-copy-source"] ?? "").split(ascii: "?", maxSplits: 1)
        guard parts.count < 2 || parts[1] == "versionId=null" else { throw .notImplemented("versionId") }
        let slash = UInt8(ascii: "/")
        let source = PercentCoding.decode(parts.first ?? "").utf8.drop { $0 == slash }
            .split(separator: slash, maxSplits: 1).map { String(Substring($0)) }
        guard source.count == 2 else { throw .invalid("Copy Source must mention the source bucket and key") }
        guard let found = buckets[source[0]] else { throw .noSuchBucket }
        guard let object = found.objects[ExactText(source[1])] else { throw .noSuchKey }
        guard refusal(of: object, prefix: "x-amz-copy-source-") == nil else { throw .preconditionFailed }
        return (object, source[0] == name && ExactText(source[1]) == key)
    }
}
