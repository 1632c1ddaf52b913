// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// A host that a plugin may reach: `api.example.com` or `*.example.com`, each with an optional `:port`.
public struct HostRule: Sendable, Hashable, CustomStringConvertible {
    /// A name or address in lower case, without the brackets of IPv6 and without `*.`.
    package let host: String
    /// Whether the rule covers every name below the host, and not the host itself.
    package let isWildcard: Bool
    /// The only port; nil for any.
    package let port: UInt16?

    /// Creates a rule for exactly one host.
    package init(host: String, port: UInt16? = nil) {
        self.host = host
        self.port = port
        isWildcard = false
    }

    /// Parses a rule; nil if no host could have that name.
    public init?(_ text: String) {
        guard text.utf8.count <= 300 else { return nil }
        isWildcard = text.hasPrefix("*.")
        let rest = isWildcard ? String(text.dropFirst(2)) : text
        // A host with a port is the authority of a URL.
        guard let parts = URLParts("http://\(rest)"), parts.rest.isEmpty, parts.user == nil, !rest.hasSuffix(":") else {
            return nil
        }
        // A name that ends with a dot is absolute, and the same host.
        let name = parts.host.hasSuffix(".") ? String(parts.host.dropLast()) : parts.host
        let isAddress = name.utf8.contains(UInt8(ascii: ":"))
        guard isAddress ? !isWildcard : Self.isName(name) && !(isWildcard && Self.endsInNumber(name)) else {
            return nil
        }
        host = name
        port = parts.port
    }

    /// Whether the rule permits a connection.
    package func permits(host: String, port: UInt16) -> Bool {
        if let only = self.port, only != port { return false }
        var host = host.lowercased()
        if host.hasSuffix(".") { host.removeLast() }
        return isWildcard
            ? host.hasSuffix("." + self.host) && host.utf8.count > self.host.utf8.count + 1 : host == self.host
    }

    /// The rule as written in a file.
    public var description: String {
        (isWildcard ? "*." : "") + (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host)
            + (port.map { ":\($0)" } ?? "")
    }

    /// Whether a host is an IPv4 address in any notation, or ends like one (URL Standard, section 3.5).
    ///
    /// A wildcard covers names only: `*.0.0.1` would match 127.0.0.1.
    private static func endsInNumber(_ host: String) -> Bool {
        guard let last = host.split(separator: ".").last?.utf8 else { return false }
        if last.allSatisfy(\.isDigit) { return true }
        return last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { $0.hexDigitValue != nil }
    }

    /// Whether every label is valid (RFC 1123) or contains `_`, as names inside clusters do.
    private static func isName(_ host: String) -> Bool {
        guard host.utf8.count <= 253 else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.count <= 63 && label.utf8.first != UInt8(ascii: "-")
                && label.utf8.last != UInt8(ascii: "-")
                && label.utf8.allSatisfy { $0.isLowercaseLetter || $0.isDigit || "-_".utf8.contains($0) }
        }
    }
}
