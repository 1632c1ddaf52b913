// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The objects and uploads of one simulated bucket.
struct S3Bucket {
    /// An object.
    struct Object {
        /// The content.
        var content: [UInt8]
        /// The entity tag, with quotes.
        var tag: String
        /// When the object was stored.
        var modified: Timestamp
        /// `Content-Type` and the like, and the fields `x-amz-meta-…`.
        var fields: HTTPFields
    }

    /// A multipart upload.
    struct Upload {
        /// The object's key.
        var key: ExactText
        /// The header fields to keep with the object.
        var fields: HTTPFields
        /// The parts by number.
        var parts: [Int: Part] = [:]
    }

    /// A part of an upload.
    struct Part {
        /// The content.
        var content: [UInt8]
        /// When the part was stored.
        var modified: Timestamp
        /// The MD5 digest of the content, which is the part's entity tag.
        let digest: [UInt8]

        /// Creates a part.
        init(content: [UInt8], modified: Timestamp) {
            (self.content, self.modified, digest) = (content, modified, MD5.digest(of: content))
        }

        /// The entity tag, with quotes.
        var tag: String { S3Bucket.tag(digest) }
    }

    /// When the bucket was made.
    var created = Timestamp.now
    /// The objects by key.
    var objects: [ExactText: Object] = [:]
    /// The multipart uploads by id.
    var uploads: [String: Upload] = [:]

    /// The entity tag for an MD5 digest, with quotes.
    static func tag(_ digest: [UInt8]) -> String { "\"\(digest.hexadecimal)\"" }
}
