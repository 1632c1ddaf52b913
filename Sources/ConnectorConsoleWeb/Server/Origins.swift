// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// The names under which the console may be asked for.
///
/// A page of another site can make a browser send requests here, also by a name of its own that it points at this machine. Such
/// a request has the other site's name in `Host` or in `Origin`.
struct Origins: Sendable {
    private let authorities: Set<String>
    private let scheme: String

    /// Takes the address that the server listens on, and what else it is called.
    init(_ address: WebConsole.Address, port: Int, names: [String], isSecure: Bool) {
        scheme = isSecure ? "https" : "http"
        var hosts = names.map { $0.lowercased() }
        if !address.isAny { hosts.append(address.host.lowercased()) }
        if address.isLoopback { hosts += ["localhost", "127.0.0.1", "::1"] }
        var authorities: Set<String> = []
        for host in hosts {
            let host = host.contains(":") ? "[\(host)]" : host
            authorities.insert("\(host):\(port)")
            // Browsers leave the port out where it is that of the scheme.
            if port == (isSecure ? 443 : 80) { authorities.insert(host) }
        }
        self.authorities = authorities
    }

    /// Whether a request is for this server by one of its names.
    func isHost(_ authority: String?) -> Bool {
        authority.map { authorities.contains($0.lowercased()) } ?? false
    }

    /// Whether an `Origin` is that of a page of the console.
    func isOwn(_ origin: String) -> Bool {
        let prefix = "\(scheme)://"
        return origin.hasPrefix(prefix) && isHost(String(origin.dropFirst(prefix.count)))
    }
}
