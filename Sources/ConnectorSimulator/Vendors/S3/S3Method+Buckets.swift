// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// Buckets, and the lists of their objects.
extension S3Method {
    /// The owner of everything.
    private static let owner = "<Owner><ID>simulated</ID><DisplayName>simulated</DisplayName></Owner>"

    /// Answers all buckets.
    func listBuckets() -> HTTPResponse {
        let list = buckets.sorted { $0.key < $1.key }.map { name, bucket in
            "<Bucket>\(Self.element("Name", text: name))<CreationDate>\(bucket.created)</CreationDate></Bucket>"
        }
        return Self.document("ListAllMyBucketsResult", "\(Self.owner)<Buckets>\(list.joined())</Buckets>")
    }

    /// Makes a bucket.
    mutating func createBucket() throws(S3Failure) -> HTTPResponse {
        guard buckets[name] == nil else {
            let message = "Your previous request to create the named bucket succeeded and you already own it."
            throw S3Failure(409, "BucketAlreadyOwnedByYou", message)
        }
        let isName = name.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-.".utf8.contains($0) }
        guard isName, (3...63).contains(name.utf8.count) else {
            throw S3Failure(400, "InvalidBucketName", "The specified bucket is not valid.")
        }
        buckets[name] = S3Bucket(created: request.receivedAt)
        return HTTPResponse(status: 200, headers: ["Location": "/\(name)"])
    }

    // MARK: Objects

    /// An entry of a list: an object, or everything below a prefix.
    private enum Entry {
        /// An object and its key.
        case object(ExactText, S3Bucket.Object)
        /// What the keys of several objects begin with.
        case prefix(ExactText)

        /// The key or the prefix.
        var text: ExactText {
            switch self {
            case .object(let key, _): key
            case .prefix(let prefix): prefix
            }
        }
    }

    /// Answers a page of keys: `ListObjectsV2` or, without `list-type`, its predecessor.
    func list() throws(S3Failure) -> HTTPResponse {
        let type = query["list-type"]
        guard type == nil || type == "2" else { throw .notImplemented("list-type \(type ?? "")") }
        guard let limit = Int(query["max-keys"] ?? "1000"), limit >= 0 else {
            throw .invalid("max-keys is not a number")
        }
        let coding = query["encoding-type"]
        guard coding == nil || coding == "url" else { throw .invalid("Invalid Encoding Method specified in Request") }
        let (prefix, delimiter) = (query["prefix"] ?? "", query["delimiter"] ?? "")
        let after = ExactText(type == nil ? query["marker"] ?? "" : try continuation ?? query["start-after"] ?? "")
        let found = entries(prefix, delimiter, after: after)
        let page = found.prefix(min(limit, 1000))
        let next = page.count < found.count ? page.last?.text.text : nil
        func key(_ name: String, _ text: String) -> String {
            guard coding != nil else { return Self.element(name, text: text) }
            let parts = text.split(ascii: "/", omittingEmptySubsequences: false)
            return Self.element(name, text: parts.map { PercentCoding.encode($0) }.joined(separator: "/"))
        }
        var head = Self.element("Name", text: name) + key("Prefix", prefix)
        if !delimiter.isEmpty { head += key("Delimiter", delimiter) }
        if let coding { head += Self.element("EncodingType", text: coding) }
        head += "<MaxKeys>\(limit)</MaxKeys><IsTruncated>\(next != nil)</IsTruncated>"
        if type == nil {
            head += key("Marker", after.text)
            if let next { head += key("NextMarker", next) }
        } else {
            head += "<KeyCount>\(page.count)</KeyCount>"
            if let text = query["start-after"] { head += key("StartAfter", text) }
            if let token = query["continuation-token"] { head += Self.element("ContinuationToken", text: token) }
            if let next { head += Self.element("NextContinuationToken", text: Base64.encode(Array(next.utf8))) }
        }
        let owner = type == nil || query["fetch-owner"] == "true" ? Self.owner : ""
        let list = page.map { entry in
            switch entry {
            case .prefix(let prefix): "<CommonPrefixes>\(key("Prefix", prefix.text))</CommonPrefixes>"
            case .object(let name, let object):
                "<Contents>\(key("Key", name.text))<LastModified>\(object.modified)</LastModified>"
                    + "\(Self.element("ETag", text: object.tag))<Size>\(object.content.count)</Size>"
                    + "\(owner)<StorageClass>STANDARD</StorageClass></Contents>"
            }
        }
        return Self.document("ListBucketResult", head + list.joined())
    }

    /// The objects with a prefix after a key, in order; those with a delimiter after the prefix are one entry up to it.
    private func entries(_ prefix: String, _ delimiter: String, after: ExactText) -> [Entry] {
        let objects = bucket.objects.filter { $0.key.text.utf8.starts(with: prefix.utf8) && after < $0.key }
            .sorted { $0.key < $1.key }
        var entries: [Entry] = []
        for (key, object) in objects {
            let rest = Substring(key.text.utf8.dropFirst(prefix.utf8.count))
            guard !delimiter.isEmpty, let place = rest.utf8.firstRange(of: delimiter.utf8) else {
                entries.append(.object(key, object))
                continue
            }
            let common = ExactText(prefix + rest[..<place.upperBound])
            // A page that ended with this prefix is continued after everything below it.
            if common != after, common != entries.last?.text { entries.append(.prefix(common)) }
        }
        return entries
    }

    /// The last entry of the previous page; nil for the first page. Throws for an invalid token.
    private var continuation: String? {
        get throws(S3Failure) {
            guard let token = query["continuation-token"] else { return nil }
            guard let bytes = Base64.decode(token), let key = String(validating: bytes, as: UTF8.self), !key.isEmpty
            else {
                throw .invalid("The continuation token provided is incorrect")
            }
            return key
        }
    }
}
