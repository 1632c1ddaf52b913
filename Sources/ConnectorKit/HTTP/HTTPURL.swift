// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// An absolute `http` or `https` URL that only grows: by segments of its path, and by items of its query.
///
/// Every addition is percent-encoded (RFC 3986), so foreign text can neither escape its component of the URL nor
/// imitate a secret's placeholder.
public struct HTTPURL: Sendable, Hashable, CustomStringConvertible {
    private var base: String
    private var query: String

    /// Reads a URL; nil if it is not an absolute `http` or `https` URL. A fragment is dropped, as are slashes at the end of
    /// the path.
    public init?(_ text: String) {
        guard URLParts(text) != nil else { return nil }
        let whole = text.prefix { $0 != "#" }
        var base = whole.prefix { $0 != "?" }
        query = String(whole.dropFirst(base.count))
        while base.utf8.last == UInt8(ascii: "/") { base.removeLast() }
        self.base = String(base)
    }

    /// The URL with further segments of the path, each encoded.
    public func appending(_ segments: String...) -> HTTPURL {
        var url = self
        for segment in segments { url.base += "/" + PercentCoding.encode(segment) }
        return url
    }

    /// The URL with a secret as a further segment of its path; the host inserts the value, encoded.
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

    /// The URL with a further item in its query, encoded; unchanged if the value is nil.
    public func with(_ name: String, _ value: String?) -> HTTPURL {
        guard let value else { return self }
        return adding("\(PercentCoding.encode(name))=\(PercentCoding.encode(value))")
    }

    /// The URL with a secret in its query; the host inserts the value, encoded.
    public func with(_ name: String, _ secret: SecretPlaceholder) -> HTTPURL {
        adding("\(PercentCoding.encode(name))=\(secret)")
    }

    /// The decoded value of the first query item of a name; nil if absent or not UTF-8.
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

    private func adding(_ item: String) -> HTTPURL {
        var url = self
        url.query += (query.isEmpty ? "?" : "&") + item
        return url
    }
}
