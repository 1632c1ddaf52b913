// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// One page of a list of objects, in the order of their keys' bytes.
struct S3Page {
    /// An object of the page.
    struct Object {
        let key: String
        /// The object as a file; nil if its key is not a path.
        let file: FileEntry?
    }

    let objects: [Object]
    /// Whether more objects follow.
    let isTruncated: Bool

    /// The name of the document's root element.
    static let name = "ListBucketResult"

    /// Reads the document, which says whether keys are encoded: a server may leave them as they are.
    ///
    /// - Throws: `protocolViolation` if an object lacks a key, or a file what it needs, or if the document does not say whether more follow.
    init(_ document: XMLElement) throws(PluginError) {
        switch document["IsTruncated"]?.text {
        case "true": isTruncated = true
        case "false": isTruncated = false
        default: throw PluginError(.protocolViolation, "the list does not say whether more follows", domain: "s3")
        }
        let isEncoded = document["EncodingType"]?.text == "url"
        var objects: [Object] = []
        for content in document.all("Contents") { objects.append(try Self.object(content, isEncoded: isEncoded)) }
        self.objects = objects
    }

    private static func object(_ content: XMLElement, isEncoded: Bool) throws(PluginError) -> Object {
        guard let text = content["Key"]?.text else {
            throw PluginError(.protocolViolation, "the list has an object without a Key", domain: "s3")
        }
        guard let key = isEncoded ? PercentCoding.text(text, plusIsSpace: true) : text else {
            throw PluginError(
                .protocolViolation,
                "the list has the key \"\(text.prefix(40))\", which is not encoded as it says",
                domain: "s3"
            )
        }
        guard (try? FilePathRule.check(key)) != nil else { return Object(key: key, file: nil) }
        guard let size = content["Size"].flatMap({ UInt64($0.text) }), size <= UInt64(Int64.max) else {
            throw missingElement("Size", key)
        }
        guard let modified = content["LastModified"].flatMap({ Timestamp(parsing: $0.text) }) else {
            throw missingElement("LastModified", key)
        }
        guard let tag = EntityTag.tag(content["ETag"]?.text) else { throw missingElement("ETag", key) }
        return Object(key: key, file: FileEntry(path: key, size: size, modified: modified, tag: tag))
    }

    /// The error for an object that the list describes only in part: a server without hashes, such as rclone's, gives an empty tag.
    private static func missingElement(_ element: String, _ key: String) -> PluginError {
        let remedy = element == "ETag" ? "; remove the object, or let the server make entity tags, such as hashes" : ""
        let message = "the list has the object \"\(key.prefix(200))\" without a valid \(element)\(remedy)"
        return PluginError(.protocolViolation, message, domain: "s3")
    }
}
