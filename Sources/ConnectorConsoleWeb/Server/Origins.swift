// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The host names that requests to the console may use.
///
/// A page of another site can make a browser send requests here, also through its own domain name resolved to this machine (DNS
/// rebinding). Such a request has the other site's name in `Host` or in `Origin`.
struct Origins: Sendable {
    private let authorities: Set<String>
    private let scheme: String

    /// Creates the names of a server from its address and further host names.
    init(_ address: WebConsole.Address, port: Int, names: [String], isSecure: Bool) {
        scheme = isSecure ? "https" : "http"
        var hosts = names.map { $0.lowercased() }
        if !address.isAny { hosts.append(address.host.lowercased()) }
        if address.isLoopback { hosts += ["localhost", "127.0.0.1", "::1"] }
        var authorities: Set<String> = []
        for host in hosts {
            let host = URLParts.bracketed(host)
            authorities.insert("\(host):\(port)")
            // Browsers omit the default port of the scheme.
            if port == (isSecure ? 443 : 80) { authorities.insert(host) }
        }
        self.authorities = authorities
    }

    /// Whether the `Host` of a request is a name of this server.
    func isHost(_ authority: String?) -> Bool {
        authority.map { authorities.contains($0.lowercased()) } ?? false
    }

    /// Whether an `Origin` is that of the console.
    func isOwn(_ origin: String) -> Bool {
        let prefix = "\(scheme)://"
        return origin.hasPrefix(prefix) && isHost(String(origin.dropFirst(prefix.count)))
    }
}
