// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorBase

/// One proxy, with the credentials to send to it.
package struct HTTPProxy: Sendable, Hashable {
    /// The proxy's name or address.
    package let host: String
    /// The port; 80 unless the URL has one.
    package let port: Int
    /// The `USER:PASSWORD` of Proxy-Authorization, before encoding; nil if none were given.
    package let credentials: Secret?

    /// Parses `http://[USER:PASSWORD@]HOST[:PORT]`, with an optional scheme; nil for anything else.
    package init?(_ text: String) {
        guard let url = URLParts(text.contains("://") ? text : "http://\(text)"), url.scheme == "http" else {
            return nil
        }
        host = url.host
        port = Int(url.effectivePort)
        guard let user = url.user else {
            credentials = nil
            return
        }
        // A header may contain no control characters.
        guard let decoded = PercentCoding.text(user), decoded.utf8.allSatisfy({ $0 >= 0x20 }) else { return nil }
        credentials = Secret(decoded.contains(":") ? decoded : "\(decoded):")
    }

    /// The host and port, without credentials.
    package var name: String { "\(URLParts.bracketed(host)):\(port)" }
}

extension HTTPProxy: CustomStringConvertible {
    /// The proxy in error messages, without credentials.
    package var description: String { "the proxy \(name)" }
}
