// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An absolute `http` or `https` URL that only grows: by path segments and query items.
///
/// Every addition is percent-encoded (RFC 3986), so foreign text can neither escape its component of the URL nor
/// imitate a secret's placeholder. Only `.` and `..` keep their meaning for servers however they are encoded: a request to a URL with
/// such a segment throws `invalid`.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    private var base: String
    private var query: String
    /// Whether a segment that was added is `.` or `..`.
    private var hasDotSegment = false

    /// Reads a URL; nil if it is not an absolute `http` or `https` URL. Drops a fragment, and slashes at the end of the path.
    public init?(_ text: String) {
        guard URLParts(text) != nil else { return nil }
        let whole = text.prefix { $0 != "#" }
        var base = whole.prefix { $0 != "?" }
        query = String(whole.dropFirst(base.count))
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        self.base = String(base)
    }

    /// The URL with further path segments, each encoded; not to be sent if one is `.` or `..`.
    public func appending(_ segments: String...) -> HTTPURL {
        var url = self
        for segment in segments { url.base += "/" + PercentCoding.encode(segment) }
        if segments.contains(".") || segments.contains("..") { url.hasDotSegment = true }
        return url
    }

    /// The URL with a secret as a further path segment; the host inserts the value, encoded.
    public func appending(_ secret: SecretPlaceholder) -> HTTPURL {
        var url = self
        url.base += "/\(secret)"
        return url
    }

    /// The URL with a path appended verbatim, slashes included: a constant of the vendor's API, never data.
    public func appending(path: StaticString) -> HTTPURL {
        var url = self
        url.base += "\(path)"
        return url
    }

    /// The URL with a further query item, encoded; unchanged if the value is nil.
    public func with(_ name: String, _ value: String?) -> HTTPURL {
        guard let value else { return self }
        return adding("\(PercentCoding.encode(name))=\(PercentCoding.encode(value))")
    }

    /// The URL with a secret in its query; the host inserts the value, encoded.
    public func with(_ name: String, _ secret: SecretPlaceholder) -> HTTPURL {
        adding("\(PercentCoding.encode(name))=\(secret)")
    }

    /// The decoded value of the first query item with a name; nil if absent or not UTF-8.
    public func value(of name: String) -> String? {
        QueryItems.encoded(query.dropFirst())
            .first { $0.value != nil && PercentCoding.text($0.name, plusIsSpace: true) == name }
            .flatMap { $0.value.flatMap { PercentCoding.text($0, plusIsSpace: true) } }
    }

    /// The URL as sent, except for secrets.
    public var description: String { base + query }

    /// Scheme, host and port: `https://example.com`.
    public var origin: String {
        URLParts(base).map { "\($0.scheme)://\($0.authority)" } ?? base
    }

    /// Checks that the URL leads where its segments say.
    ///
    /// - Throws: `invalid` if a segment that was added is `.` or `..`.
    package func check() throws(PluginError) {
        guard hasDotSegment else { return }
        throw PluginError(.invalid, "a segment of the path is \".\" or \"..\": \(base.excerpt)", domain: "kit")
    }

    private func adding(_ item: String) -> HTTPURL {
        var url = self
        url.query += (query.isEmpty ? "?" : "&") + item
        return url
    }
}
