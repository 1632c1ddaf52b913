// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase
internal import ConnectorHTTPServer

/// Multipart uploads.
extension S3Method {
    /// The id of the upload that the request is about.
    private var uploadID: String { query["uploadId"] ?? "" }

    /// The upload that the request is about; throws if there is none of the key.
    private func upload() throws(S3Failure) -> S3Bucket.Upload {
        guard let upload = bucket.uploads[uploadID], upload.key == key else { throw .noSuchUpload }
        return upload
    }

    /// Begins an upload.
    mutating func createUpload() -> HTTPResponse {
        let id = Identifier.uuid()
        bucket.uploads[id] = S3Bucket.Upload(key: key, fields: kept)
        return Self.document("InitiateMultipartUploadResult", "\(target)<UploadId>\(id)</UploadId>")
    }

    /// The elements that name the bucket and the key.
    private var target: String { Self.element("Bucket", text: name) + Self.element("Key", text: key.text) }

    /// Ends an upload without an object.
    mutating func abortUpload() throws(S3Failure) -> HTTPResponse {
        _ = try upload()
        bucket.uploads[uploadID] = nil
        return HTTPResponse(status: 204)
    }

    /// Puts or copies a part.
    mutating func putPart() throws(S3Failure) -> HTTPResponse {
        _ = try upload()
        guard let number = query["partNumber"].flatMap({ Int($0) }), (1...10_000).contains(number) else {
            throw .invalid("Part number must be an integer between 1 and 10000, inclusive")
        }
        let isCopy = request.fields["x-amz-copy-source"] != nil
        if !isCopy { try S3Checksum.check(request.body, request.fields) }
        let part = S3Bucket.Part(content: isCopy ? try copiedRange() : request.body, modified: request.receivedAt)
        bucket.uploads[uploadID]?.parts[number] = part
        return isCopy ? copied("CopyPartResult", part.tag) : stored(part.tag)
    }

    /// The bytes of an object that become a part.
    private func copiedRange() throws(S3Failure) -> [UInt8] {
        let content = try source().object.content
        guard let range = request.fields["x-amz-copy-source-range"] else { return content }
        let ends = range.starts(ascii: "bytes=") ? range.dropFirst(6).split(ascii: "-").map { Int($0) } : []
        guard ends.count == 2, let first = ends[0], let last = ends[1], first <= last, last < content.count else {
            throw .invalid("The x-amz-copy-source-range value must be of the form bytes=first-last, within the source.")
        }
        return Array(content[first...last])
    }

    /// Answers a page of an upload's parts.
    func listParts() throws(S3Failure) -> HTTPResponse {
        let parts = try upload().parts.sorted { $0.key < $1.key }
        guard let limit = Int(query["max-parts"] ?? "1000"), limit >= 0,
            let after = Int(query["part-number-marker"] ?? "0")
        else {
            throw .invalid("max-parts or part-number-marker is not a number")
        }
        let found = parts.filter { $0.key > after }
        let page = found.prefix(min(limit, 1000))
        let list = page.map { number, part in
            "<Part><PartNumber>\(number)</PartNumber><LastModified>\(part.modified)</LastModified>"
                + "\(Self.element("ETag", text: part.tag))<Size>\(part.content.count)</Size></Part>"
        }
        return Self.document(
            "ListPartsResult",
            "\(target)\(Self.element("UploadId", text: uploadID))<PartNumberMarker>\(after)</PartNumberMarker>"
                + "<NextPartNumberMarker>\(page.last?.key ?? 0)</NextPartNumberMarker><MaxParts>\(limit)</MaxParts>"
                + "<IsTruncated>\(page.count < found.count)</IsTruncated><StorageClass>STANDARD</StorageClass>"
                + list.joined()
        )
    }

    /// Makes an object of an upload's parts.
    mutating func completeUpload() throws(S3Failure) -> HTTPResponse {
        let upload = try upload()
        let parts = try body("CompleteMultipartUpload").all("Part")
        guard !parts.isEmpty else { throw .malformed }
        let numbers = parts.compactMap { part in part["PartNumber"].flatMap { Int($0.text) } }
        guard zip(numbers, numbers.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw S3Failure(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
        }
        var (content, digests): ([UInt8], [UInt8]) = ([], [])
        for (index, part) in parts.enumerated() {
            guard let number = part["PartNumber"].flatMap({ Int($0.text) }), let found = upload.parts[number],
                let tag = part["ETag"]?.text, tag != "*", Self.names(found.tag, tag)
            else {
                throw S3Failure(400, "InvalidPart", "One or more of the specified parts could not be found.")
            }
            guard index == parts.count - 1 || found.content.count >= 5 << 20 else {
                throw S3Failure(
                    400,
                    "EntityTooSmall",
                    "Your proposed upload is smaller than the minimum allowed object size."
                )
            }
            content += found.content
            digests += found.digest
        }
        if let size = request.fields["x-amz-mp-object-size"], size != "\(content.count)" {
            throw S3Failure(400, "InvalidRequest", "The provided object size does not match the size of the parts.")
        }
        try checkConditions()
        bucket.uploads[uploadID] = nil
        // The tag of an object in parts is no digest of its content (AWS, "Checking object integrity").
        let tag = "\"\(MD5.digest(of: digests).hexadecimal)-\(parts.count)\""
        let saved = Self.element("ETag", text: save(content, tag, upload.fields))
        let path = PercentCoding.encode(name) + "/" + PercentCoding.encode(key.text)
        let location = Self.element("Location", text: "\(request.baseURL)/\(path)")
        return Self.document("CompleteMultipartUploadResult", "\(location)\(target)\(saved)")
    }
}
