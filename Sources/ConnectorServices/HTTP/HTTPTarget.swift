// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
package import ConnectorInvocation

/// Converts the URLs of plugins and servers into URLs to send.
///
/// The host checks the same parsed parts that it then connects to. The original text is never parsed twice, because a
/// second parser might disagree on where the host name ends.
package enum HTTPTarget {
    /// Parses a plugin's URL, with its secrets inserted.
    ///
    /// - Throws: `invalid` for anything but an absolute http or https URL, for credentials before the host, which belong in
    ///   a header, and for a path that is not UTF-8.
    package static func parse(_ text: String) throws(ServiceFailure) -> URLParts {
        guard var url = URLParts(text) else {
            throw .invalid("the URL is not an absolute http or https URL of at most \(RequestTemplate.urlLimit) bytes")
        }
        guard url.user == nil else {
            throw .invalid(
                "the URL has credentials before the host; if it is configured, give them in fields of their own: a plugin sends them in "
                    + "the Authorization header"
            )
        }
        guard isPlain(host: url.host) else {
            throw .invalid("the URL's host has characters that no host name may have")
        }
        url.rest = normalized(url.rest)
        guard isPathText(of: url) else {
            throw .invalid("the URL's path has percent-encoded bytes that are not UTF-8, and cannot be sent")
        }
        return url
    }

    /// Whether the bytes of a URL's path are UTF-8: the HTTP client would send `/` in place of any other path.
    static func isPathText(of url: URLParts) -> Bool {
        guard url.rest.utf8.contains(UInt8(ascii: "%")) else { return true }
        return PercentCoding.text(url.rest.prefix { $0 != "?" }) != nil
    }

    /// The target of a redirect.
    ///
    /// - Parameter reference: The value of the Location field (RFC 9110, section 10.2.2).
    package static func redirect(_ reference: String, from base: URLParts) throws(RedirectFault) -> URLParts {
        // The client puts U+FFFD in the place of bytes that are not UTF-8.
        guard !reference.unicodeScalars.contains("\u{FFFD}") else { throw .notUTF8 }
        // ASCII, so bytes are characters.
        let reference = escaping(reference)
        var text = reference
        if !hasScheme(reference) {
            let prefix = "\(base.scheme)://\(base.authority)"
            let path = base.rest.prefix { $0 != "?" }
            if reference.hasPrefix("//") {
                text = "\(base.scheme):\(reference)"
            } else if reference.hasPrefix("/") {
                text = prefix + reference
            } else if reference.hasPrefix("?") || reference.isEmpty || reference.hasPrefix("#") {
                text = prefix + (reference.hasPrefix("?") ? String(path) : base.rest) + reference
            } else {
                let directory = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
                text = prefix + directory + reference
            }
        }
        guard var url = URLParts(text), isPlain(host: url.host) else { throw RedirectFault(of: text) }
        url.user = nil
        url.rest = withoutDotSegments(normalized(url.rest))
        guard isPathText(of: url) else { throw .notUTF8 }
        return url
    }

    /// A URL with the mask in place of every secret in its host and port, and without its path.
    ///
    /// An inserted value is percent-encoded, so it has none of the characters that delimit the parts of a URL.
    ///
    /// - Parameter template: The plugin's own text, with the mask in place of each placeholder.
    static func masked(_ url: URLParts, from template: String) -> URLParts {
        var masked = url
        masked.rest = ""
        let authority = (template.firstRange(of: "://").map { template[$0.upperBound...] } ?? template[...])
            .prefix { !"/?#".contains($0) }
        guard authority.contains(Secret.mask) else { return masked }
        // A colon inside brackets belongs to an address.
        let end = authority.lastIndex(of: ":").flatMap { authority[$0...].contains("]") ? nil : $0 }
        masked.host = authority[..<(end ?? authority.endIndex)].filter { !"[]".contains($0) }.lowercased()
        if let end, authority[end...].contains(Secret.mask) { masked.port = nil }
        return masked
    }

    /// The target of a redirect without what may come from the secrets in the URL that it is reached from: the path and, if that URL has
    /// them there, the host and the port.
    ///
    /// - Parameter name: The masked form of that URL.
    static func masked(_ url: URLParts, reachedFrom base: URLParts, named name: URLParts) -> URLParts {
        var masked = url
        masked.rest = ""
        if url.authority == base.authority {
            (masked.host, masked.port) = (name.host, name.port)
        } else if name.authority != base.authority {
            (masked.host, masked.port) = (Secret.mask, nil)
        }
        return masked
    }

    /// Whether two URLs have the same scheme, host and port, and so may receive the same credentials.
    package static func isSameOrigin(_ first: URLParts, _ second: URLParts) -> Bool {
        first.scheme == second.scheme && first.host == second.host && first.effectivePort == second.effectivePort
    }

    /// Whether a reference starts with a scheme and a colon: RFC 3986, section 3.1.
    private static func hasScheme(_ reference: String) -> Bool {
        guard let colon = reference.utf8.firstIndex(of: UInt8(ascii: ":")), colon > reference.startIndex else {
            return false
        }
        return reference[..<colon].utf8.allSatisfy { $0.isLetterOrDigit || "+-.".utf8.contains($0) }
    }

    /// Whether a host has only characters of names and addresses.
    private static func isPlain(host: String) -> Bool {
        host.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-._:".utf8.contains($0) }
    }

    /// Escapes spaces, tabs and characters beyond ASCII, which servers send in Location although they must not.
    private static func escaping(_ text: String) -> String {
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            if byte <= 0x20 || byte >= 0x7F { bytes.append(percentEscaping: byte) } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Removes the segments "." and ".." from the path of a normalized path and query: RFC 3986, section 5.2.4.
    private static func withoutDotSegments(_ rest: String) -> String {
        let path = rest.prefix { $0 != "?" }
        var segments: [Substring] = []
        var isDirectory = false
        for segment in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
            isDirectory = segment == "." || segment == ".."
            if segment == ".." { _ = segments.popLast() }
            if !isDirectory { segments.append(segment) }
        }
        if isDirectory { segments.append("") }
        return "/" + segments.joined(separator: "/") + rest[path.endIndex...]
    }

    /// Path and query, percent-encoded by RFC 3986, without the fragment, which is never sent.
    ///
    /// A `%` without two digits after it becomes `%25`: the HTTP client would encode every `%` beside it once more.
    private static func normalized(_ rest: String) -> String {
        let text = Array(rest.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 1)
        if !rest.hasPrefix("/") { bytes.append(UInt8(ascii: "/")) }
        for (index, byte) in text.enumerated() {
            if byte == UInt8(ascii: "#") { break }
            switch byte {
            case UInt8(ascii: "%") where text.dropFirst(index + 1).prefix(2).compactMap(\.hexDigitValue).count < 2:
                bytes.append(percentEscaping: byte)
            case 0...0x20, 0x7F..., UInt8(ascii: "\""), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\\"),
                UInt8(ascii: "^"), UInt8(ascii: "`"), UInt8(ascii: "{"), UInt8(ascii: "|"), UInt8(ascii: "}"),
                UInt8(ascii: "["), UInt8(ascii: "]"):
                bytes.append(percentEscaping: byte)
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension HTTPTarget {
    /// Why the target of a redirect cannot be asked for.
    package enum RedirectFault: Error {
        /// It is not an http or https URL.
        case notHTTP
        /// It is longer than ``RequestTemplate/urlLimit``.
        case tooLong
        /// It is not UTF-8.
        case notUTF8
        /// It contains a backslash, which some programs take for a slash.
        case backslash
        /// Its host or its port is none; the value is the URL without credentials, path and query.
        case invalidAuthority(String)

        /// Finds the fault of an escaped URL that cannot be read.
        fileprivate init(of text: String) {
            guard let separator = text.firstRange(of: "://"),
                ["http", "https"].contains(text[..<separator.lowerBound].lowercased())
            else {
                self = .notHTTP
                return
            }
            guard text.utf8.count <= RequestTemplate.urlLimit else {
                self = .tooLong
                return
            }
            guard !text.utf8.contains(UInt8(ascii: "\\")) else {
                self = .backslash
                return
            }
            let authority = text[separator.upperBound...].prefix { !"/?#".contains($0) }
            let host = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
            self = .invalidAuthority("\(text[..<separator.upperBound])\(host)")
        }

        /// The target, in messages.
        ///
        /// - Parameter isSecret: Whether the target may contain a secret.
        func target(isSecret: Bool) -> String {
            switch self {
            case .notHTTP: "something that is not an http or https URL"
            case .tooLong: "a URL of more than \(RequestTemplate.urlLimit) bytes"
            case .notUTF8: "a URL that is not UTF-8, and cannot be sent"
            case .backslash: "a URL with a backslash, which no URL may contain"
            case .invalidAuthority(let url):
                "\(isSecret ? "a URL" : url.excerpt), whose host or port is invalid; a host is an address, or a name in ASCII"
            }
        }
    }
}
