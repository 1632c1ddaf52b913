// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorKit
internal import ConnectorManifest

/// What a server says about one file or collection.
struct WebDAVResource {
    /// The path below the endpoint; empty for the endpoint itself.
    let path: String
    let isCollection: Bool
    /// The content's version: the server's tag without its mark of weakness, which may change; nil if the server gives
    /// none.
    let tag: String?
    /// The server's tag as it is now, for conditions.
    let condition: String?
    /// The size of the content in bytes; nil if the server does not say.
    let size: UInt64?
    /// When the content last changed; nil if the server does not say.
    let modified: Timestamp?
    private let contentType: String?
    /// The stamp, if it belongs to the current content.
    private let stamp: WebDAVStamp?

    /// Reads a `response` of a `multistatus`; nil for a resource that is not below the endpoint, or that does not
    /// exist.
    ///
    /// - Parameter base: The path of the endpoint in URLs, without a trailing slash.
    init?(_ response: XMLElement, below base: String) {
        guard let path = Self.path(response["href"]?.text ?? "", below: base) else { return nil }
        let properties = response.all("propstat").first { Self.status(of: $0) == "200" }?["prop"]
        guard let properties else { return nil }
        func text(_ name: String) -> String? {
            properties.children.first { $0.namespace == "DAV:" && $0.name == name }?.text
        }
        self.path = path
        isCollection = properties["resourcetype"]?["collection"] != nil
        let entityTag = EntityTag.tag(text("getetag"))
        let tag = entityTag.map(EntityTag.opaque)
        self.tag = tag
        condition = entityTag.flatMap(EntityTag.field)
        size = text("getcontentlength").flatMap { UInt64($0.filter { !$0.isWhitespace }) }
        modified = text("getlastmodified").flatMap { Timestamp(httpDate: $0) }
        contentType = text("getcontenttype").flatMap { $0.isEmpty ? nil : $0 }
        stamp = properties.children.first { $0.namespace == WebDAVStamp.namespace && $0.name == "file" }
            .flatMap { WebDAVStamp($0.text) }.flatMap { EntityTag.opaque($0.tag) == tag ? $0 : nil }
    }

    /// The path of a resource of which a `response` gives no properties, and the status with which the server refuses them: of the
    /// resource, or of all its properties (RFC 4918, section 14.24); otherwise nil.
    ///
    /// That properties are missing says nothing of the resource.
    static func refusal(_ response: XMLElement, below base: String) -> (path: String, status: Int)? {
        let ofProperties = response.all("propstat").lazy.compactMap { status(of: $0) }.first { $0 != "404" }
        guard let number = (status(of: response) ?? ofProperties).flatMap({ Int($0) }), (400..<600).contains(number),
            let path = Self.path(response["href"]?.text ?? "", below: base)
        else { return nil }
        return (path, number)
    }

    /// The number in the status line of a `response` or a `propstat`.
    private static func status(of element: XMLElement) -> Substring? {
        element["status"]?.text.split(separator: " ").dropFirst().first
    }

    /// The answer to `head`.
    ///
    /// - Throws: `protocolViolation` if the server does not say what `files/1` needs.
    func entry() throws(PluginError) -> FileEntry {
        guard let size, size <= UInt64(Int64.max), let modified, let tag else {
            throw missingProperty(size == nil ? "getcontentlength" : modified == nil ? "getlastmodified" : "getetag")
        }
        return FileEntry(
            path: path,
            size: size,
            modified: modified,
            tag: tag,
            contentType: knownContentType,
            digest: knownDigest
        )
    }

    /// The error for a property that the server does not give, and will not give when it is asked again.
    func missingProperty(_ property: String) -> PluginError {
        PluginError(
            .protocolViolation,
            "the server gives no valid \(property) of \"\(path)\", which files need; use a server that gives it",
            isRetryable: false,
            domain: "webdav"
        )
    }

    /// The media type that was put, or else the server's own.
    var knownContentType: String? { stamp?.contentType ?? contentType }

    /// The digest of the content; nil if unknown.
    var knownDigest: String? { stamp?.digest }

    /// The path in an `href`, which is a URL or the path of one.
    private static func path(_ href: String, below base: String) -> String? {
        let bytes = href.utf8.drop { $0 <= 0x20 }
        let href = String(
            decoding: bytes.prefix(bytes.count - bytes.reversed().prefix { $0 <= 0x20 }.count),
            as: UTF8.self
        )
        let rest = href.hasPrefix("/") ? href : URLParts(href)?.rest ?? ""
        // Compare decoded paths, because servers encode other characters than this adapter, and by bytes, because names
        // are bytes.
        guard let path = PercentCoding.text(rest.prefix { $0 != "?" && $0 != "#" }), path.utf8.first == slash,
            let base = PercentCoding.text(base)
        else { return nil }
        let names = path.utf8.split(separator: slash)
        let above = base.utf8.split(separator: slash)
        guard names.count >= above.count, zip(names, above).allSatisfy({ $0.elementsEqual($1) }) else { return nil }
        return names.dropFirst(above.count).map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/")
    }

    private static let slash = UInt8(ascii: "/")
}
