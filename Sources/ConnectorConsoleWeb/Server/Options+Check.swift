// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

package import ConnectorBase
internal import ConnectorServices

extension WebConsole.Options {
    /// Checks that these options admit no one by mistake.
    ///
    /// - Throws: `invalid-value` for an empty host, for an address other than loopback without a certificate or without a token, for a
    ///   wildcard address without a name, for a number that is not a port, for a token that is too short, for two tokens that are the
    ///   same, and for a name that is not just a host name or an IP address.
    package func check() throws(ConnectorError) {
        guard !address.host.isEmpty else {
            throw ConnectorError(
                .invalidValue,
                "the console has no host to listen on: it is empty",
                fix: "set that of the interface, such as 127.0.0.1"
            )
        }
        guard (0...65535).contains(address.port) else {
            throw ConnectorError(.invalidValue, "a port must be a number from 0 to 65535, not \(address.port)")
        }
        let minimum = Authenticator.minimumTokenLength
        for token in [token, readToken].compactMap(\.self) where token.reveal().utf8.count < minimum {
            throw ConnectorError(.invalidValue, "a token of the console must have at least \(minimum) bytes")
        }
        if let token, let readToken, token.reveal() == readToken.reveal() {
            throw ConnectorError(
                .invalidValue,
                "the token that lets people act is also the one that lets them only see",
                fix: "use two different tokens"
            )
        }
        for name in names where !Self.isHost(name) {
            throw ConnectorError(
                .invalidValue,
                "the console cannot be named \(name), which is not a host name or an IP address",
                fix: "set the name alone, such as console.example.org, without a scheme, a port or a path"
            )
        }
        guard !address.isLoopback else { return }
        guard certificate != nil, token != nil || readToken != nil else {
            throw ConnectorError(
                .invalidValue,
                "the console requires TLS and a token to listen on \(address.host), which other machines can reach",
                fix: "set a certificate, its key, and a token from a secret; or listen on 127.0.0.1"
            )
        }
        guard !address.isAny || !names.isEmpty else {
            throw ConnectorError(
                .invalidValue,
                "the console listens on every interface, but has no name to expect in requests",
                fix: "set the host name of its URL"
            )
        }
    }

    /// Whether a text is a host name or an IP address, without a port.
    private static func isHost(_ text: String) -> Bool {
        // Only an IPv6 address contains colons, and it has at least two.
        guard text.utf8.count(where: { $0 == UInt8(ascii: ":") }) != 1 else { return false }
        return URLParts("http://\(URLParts.bracketed(text))")?.host == text.lowercased()
    }
}
