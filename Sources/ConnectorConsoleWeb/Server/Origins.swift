// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// The host names that requests to the console may use.
///
/// A page of another site can make a browser send requests here, even by resolving its own domain name to this machine (DNS
/// rebinding). Such a request carries the other site's name in `Host` or in `Origin`.
///
/// Only the names are fixed: a tunnel, a container or a proxy gives the server another port than the one it listens on. A request
/// is of the console's own pages if its `Origin` is the very server that its `Host` names, so a page of another port is foreign.
struct Origins: Sendable {
    /// The names in lower case, without the brackets of an IPv6 address.
    private let hosts: Set<String>
    /// The schemes of the console's URLs.
    private let schemes: [String]

    /// Collects the names of a server from its address and further host names.
    ///
    /// - Parameter isSecure: Whether the server itself encrypts; a proxy in front of one that does not may do so.
    init(_ address: WebConsole.Address, names: [String], isSecure: Bool) {
        schemes = isSecure ? ["https"] : ["http", "https"]
        var hosts = names
        if !address.isAny { hosts.append(address.host) }
        if address.isLoopback { hosts += ["localhost", "127.0.0.1", "::1"] }
        self.hosts = Set(hosts.map { $0.lowercased() })
    }

    /// Whether the `Host` of a request is a name of this server, with any port or none.
    func isHost(_ authority: String?) -> Bool {
        // An authority with a user, an empty port or a path differs from what is read of it.
        guard let authority, let url = URLParts("http://\(authority)"), url.authority == authority.lowercased() else {
            return false
        }
        return hosts.contains(url.host)
    }

    /// Whether an `Origin` is the server that the `Host` of the same request names.
    func isOwn(_ origin: String, host: String?) -> Bool {
        guard let host, isHost(host) else { return false }
        return schemes.contains { "\($0)://\(host.lowercased())" == origin }
    }
}
