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
        /// `Content-Type` and the fields `x-amz-meta-…`.
        var fields: HTTPFields
    }

    /// A multipart upload.
    struct Upload {
        /// The object's key.
        var key: ExactText
        /// The header fields to keep with the object.
        var fields: HTTPFields
        /// The parts by number, each with its tag.
        var parts: [Int: (content: [UInt8], tag: String)] = [:]
    }

    /// The objects by key.
    var objects: [ExactText: Object] = [:]
    /// The multipart uploads by id.
    var uploads: [String: Upload] = [:]
    private var count: UInt64 = 0

    /// A tag that no other object or part of the bucket has. Real tags are MD5 digests, but clients must not rely on that.
    mutating func makeTag() -> String {
        count += 1
        let digits = String(count, radix: 16)
        return "\"\(String(repeating: "0", count: max(0, 32 - digits.count)))\(digits)\""
    }
}
