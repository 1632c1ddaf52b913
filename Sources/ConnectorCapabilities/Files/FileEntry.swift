// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

public import ConnectorBase

/// What a store knows about a file.
///
/// ```json
/// {"path": "reports/2026.pdf", "size": 48211, "modified": "2026-01-31T09:30:00.000Z", "tag": "1a2b", "contentType": "application/pdf"}
/// ```
public struct FileEntry: Sendable, Hashable {
    /// The path: see ``FilePathRule``.
    public var path: String
    /// The size in bytes, at most 2⁶³ − 1.
    public var size: UInt64
    /// When the content was last put.
    public var modified: Timestamp
    /// The content's version: opaque, never empty, and different after every change. HTTP calls it an entity tag.
    public var tag: String
    /// The media type, such as `text/plain`; nil if the store does not know it. Pages of a list may omit it.
    public var contentType: String?
    /// The SHA-256 of the content, as 64 lower-case hexadecimal digits; nil if the store does not know it, for example
    /// because another program put the file there. Pages of a list may omit it.
    public var digest: String?

    /// The most bytes that one call reads or writes: 8 MiB.
    public static let partLimit = 8 << 20

    /// Creates an entry.
    public init(
        path: String,
        size: UInt64,
        modified: Timestamp,
        tag: String,
        contentType: String? = nil,
        digest: String? = nil
    ) {
        self.path = path
        self.size = size
        self.modified = modified
        self.tag = tag
        self.contentType = contentType
        self.digest = digest
    }

    /// Reads an entry.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that names the member, or quotes a path that breaks the rules.
    public init(json: JSONValue, path: String = "file") throws(ConnectorError) {
        let reader = try ModelReader(json, path)
        let name = try reader.requiredString("path")
        try FilePathRule.check(name)
        guard let size = try reader.value("size", "a number of bytes", { $0.integer.flatMap { UInt64(exactly: $0) } }),
            let modified = try reader.timestamp("modified")
        else {
            throw ConnectorError(.invalid, "\(path) has no size or no time \"modified\"; both are needed")
        }
        self.init(
            path: name,
            size: size,
            modified: modified,
            tag: try reader.requiredString("tag"),
            contentType: try reader.string("contentType"),
            digest: try reader.string("digest")
        )
        if let digest { try Self.checkDigest(digest) }
    }

    /// Checks a digest: 64 lower-case hexadecimal digits.
    ///
    /// - Throws: A ``ConnectorError`` of code `invalid` that quotes its beginning.
    public static func checkDigest(_ digest: String) throws(ConnectorError) {
        guard digest.utf8.count == 64, digest.utf8.allSatisfy(\.isLowercaseHexDigit) else {
            throw ConnectorError(
                .invalid,
                "\"\(digest.prefix(70))\" is not a digest",
                fix: "use the 64 hexadecimal digits of a SHA-256, in lower case"
            )
        }
    }

    /// The JSON form that operations return.
    public var json: JSONValue {
        var object: JSONObject = ["path": .string(path), "size": .integer(Int64(clamping: size))]
        object.set("modified", modified)
        object.set("tag", tag)
        object.set("contentType", contentType)
        object.set("digest", digest)
        return .object(object)
    }
}

extension FileEntry: CustomStringConvertible {
    /// One line, such as `reports/2026.pdf: 48211 bytes, application/pdf, of 2026-01-31T09:30:00.000Z`.
    public var description: String {
        "\(path): \(size) bytes, \(contentType.map { "\($0), " } ?? "")of \(modified)".displayed(isUnicode: true)
    }
}
