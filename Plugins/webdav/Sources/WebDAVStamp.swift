// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// The facts about a file that a server need not keep, as JSON text in a property of the adapter's own (RFC 4918,
/// section 4.2).
///
/// It names the tag of the content that it describes, because the property stays when another program puts other
/// content at the path.
struct WebDAVStamp: Hashable {
    /// The tag of the content.
    var tag = ""
    /// The media type; nil if unknown.
    var contentType: String?
    /// The SHA-256; nil if unknown.
    var digest: String?

    /// The namespace of the property, whose name is `file`.
    static let namespace = "urn:x-connector-host:files"

    init(contentType: String?, digest: String?) {
        (self.contentType, self.digest) = (contentType, digest)
    }

    /// Reads the property's text; nil if it is not the adapter's.
    init?(_ text: String) {
        guard let json = try? JSONValue(parsing: text), let tag = json["tag"]?.string else { return nil }
        self.tag = tag
        contentType = json["contentType"]?.string
        digest = json["digest"]?.string.flatMap { digest in (try? FileEntry.checkDigest(digest)).map { digest } }
    }

    /// The property's text.
    var text: String {
        var object: JSONObject = ["tag": .string(tag)]
        object["contentType"] = contentType.map { .string($0) }
        object["digest"] = digest.map { .string($0) }
        return JSONValue.object(object).serialized()
    }
}
