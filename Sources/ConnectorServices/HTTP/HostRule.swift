// This source file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// A host that a plugin may reach: `api.example.com` or `*.example.com`, each with an optional `:port`.
public struct HostRule: Sendable, Hashable, CustomStringConvertible {
    /// A name or address in lower case, without the brackets of IPv6 and without `*.`.
    package let host: String
    /// Whether the rule covers every name below the host, and not the host itself.
    package let isWildcard: Bool
    /// The only port; nil for any.
    package let port: UInt16?

    /// Names one host exactly.
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
        let isAddress = parts.host.utf8.contains(UInt8(ascii: ":"))
        guard isAddress ? !isWildcard : Self.isName(parts.host) else { return nil }
        host = parts.host
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

    /// The rule as a file writes it.
    public var description: String {
        (isWildcard ? "*." : "") + (host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host)
            + (port.map { ":\($0)" } ?? "")
    }

    /// Whether every label is valid (RFC 1123) or contains `_`, as names inside clusters do.
    private static func isName(_ host: String) -> Bool {
        guard host.utf8.count <= 253 else { return false }
        return host.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
            !label.isEmpty && label.utf8.count <= 63 && label.utf8.first != UInt8(ascii: "-")
                && label.utf8.last != UInt8(ascii: "-")
                && label.utf8.allSatisfy { byte in
                    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "-")
                        || byte == UInt8(ascii: "_")
                }
        }
    }
}
