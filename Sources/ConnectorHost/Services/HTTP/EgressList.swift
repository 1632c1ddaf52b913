// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

import ConnectorManifest

/// The hosts that a connector may reach.
///
/// An entry is `host`, `*.suffix` (every host below a domain, not the domain itself) or `*`, each with `:port` or for any
/// port; an IPv6 address stands in brackets if it has a port. A whole URL stands for its host and port. Names are compared
/// without regard to case and to a dot at the end. An entry that is none of these allows nothing.
struct EgressList: Sendable {
    /// One entry.
    private struct Entry: Sendable {
        let name: String
        let port: UInt16?

        init?(_ text: String) {
            if let url = URLParts(text) {
                name = EgressList.canonical(url.host)
                port = url.effectivePort
                return
            }
            let text = text.lowercased()
            var host = text[...]
            var portText: Substring?
            if text.first == "[" {
                guard let end = text.firstIndex(of: "]") else { return nil }
                host = text[text.index(after: text.startIndex)..<end]
                let rest = text[text.index(after: end)...]
                guard rest.isEmpty || rest.first == ":" else { return nil }
                portText = rest.isEmpty ? nil : rest.dropFirst()
            } else if let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") {
                host = text[..<colon]
                portText = text[text.index(after: colon)...]
            }
            if let portText {
                guard let number = UInt16(portText) else { return nil }
                port = number
            } else {
                port = nil
            }
            name = EgressList.canonical(String(host))
            let rest = name.hasPrefix("*.") ? name.dropFirst(2) : name[...]
            guard !rest.isEmpty, name == "*" || !rest.contains("*") else { return nil }
        }

        func allows(_ host: String, _ port: UInt16) -> Bool {
            guard self.port == nil || self.port == port else { return false }
            if name == "*" || name == host { return true }
            // "*.example.com" covers "a.example.com": what is left of the suffix is at least one letter.
            return name.hasPrefix("*.") && host.hasSuffix(name.dropFirst()) && host.utf8.count >= name.utf8.count
        }
    }

    private let entries: [Entry]

    /// Reads the entries.
    init(_ hosts: [String]) {
        entries = hosts.compactMap(Entry.init)
    }

    /// Whether a connection there is allowed.
    func allows(_ url: URLParts) -> Bool {
        let host = Self.canonical(url.host)
        return entries.contains { $0.allows(host, url.effectivePort) }
    }

    /// Refuses a URL that goes elsewhere, and says how to allow it.
    func check(_ url: URLParts) throws(ServiceFailure) {
        guard !allows(url) else { return }
        throw .denied(
            "the host \(url.authority) is not one that this connector may reach; "
                + "to allow it, add \"allow\": {\"hosts\": [\"\(url.authority)\"]} to the connector"
        )
    }

    private static func canonical(_ host: String) -> String {
        host.utf8.count > 1 && host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}

extension URLParts {
    /// The host, and the port if one is written.
    var authority: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port.map { "\(host):\($0)" } ?? host
    }
}
