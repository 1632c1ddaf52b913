// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The parts of an absolute `http` or `https` URL (RFC 3986), as far as the host needs them.
public struct URLParts: Sendable, Hashable, CustomStringConvertible {
    /// `http` or `https`, in lower case.
    public var scheme: String
    /// The user information before `@`, still percent-encoded; nil if absent.
    public var user: String?
    /// The name or address in lower case, without the brackets of an IPv6 address.
    public var host: String
    /// The port, if the URL gives one.
    public var port: UInt16?
    /// Path, query and fragment, from the first `/`, `?` or `#`.
    public var rest: String

    /// Reads a URL; nil if it is relative, of another scheme, without a host, or malformed.
    public init?(_ text: String) {
        guard text.utf8.count <= 8192, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != 0x5C }) else {
            return nil
        }
        // From here on the text is ASCII, so bytes are characters.
        let bytes = text.utf8
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")), bytes[colon...].starts(with: "://".utf8) else {
            return nil
        }
        scheme = text[..<colon].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        let afterScheme = bytes[bytes.index(colon, offsetBy: 3)...]
        let end = afterScheme.firstIndex { "/?#".utf8.contains($0) } ?? afterScheme.endIndex
        rest = String(Substring(afterScheme[end...]))
        var authority = afterScheme[..<end]
        if let at = authority.lastIndex(of: UInt8(ascii: "@")) {
            user = String(Substring(authority[..<at]))
            authority = authority[authority.index(after: at)...]
        }
        var portText: Substring.UTF8View?
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            host = Substring(authority[authority.index(after: authority.startIndex)..<close]).lowercased()
            let after = authority[authority.index(after: close)...]
            guard after.isEmpty || after.first == UInt8(ascii: ":") else { return nil }
            portText = after.isEmpty ? nil : after.dropFirst()
            let isAddress = host.utf8.allSatisfy { $0.isLowercaseHexDigit || ":.".utf8.contains($0) }
            guard isAddress, host.utf8.contains(UInt8(ascii: ":")) else { return nil }
        } else {
            let colon = authority.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex
            host = Substring(authority[..<colon]).lowercased()
            portText = colon == authority.endIndex ? nil : authority[authority.index(after: colon)...]
            guard host.utf8.allSatisfy(Self.isNameByte) else { return nil }
        }
        guard !host.isEmpty else { return nil }
        if let portText, !portText.isEmpty {
            guard portText.allSatisfy(\.isDigit), let number = UInt16(Substring(portText)),
                number > 0
            else { return nil }
            port = number
        }
    }

    /// Letters, digits, `-`, `.` and `_`; a name in another script must be written in its ASCII form.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        byte.isLowercaseLetter || byte.isDigit || "-._".utf8.contains(byte)
    }

    /// The port to connect to.
    public var effectivePort: UInt16 { port ?? (scheme == "https" ? 443 : 80) }

    /// The host, with the port if the URL has one.
    package var authority: String {
        let host = Self.bracketed(host)
        return port.map { "\(host):\($0)" } ?? host
    }

    /// A host as URLs write it: an IPv6 address in brackets.
    package static func bracketed(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    /// The URL as text.
    public var description: String { "\(scheme)://\(user.map { "\($0)@" } ?? "")\(authority)\(rest)" }
}
