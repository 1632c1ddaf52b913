// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorManifest

/// One proxy, and what it is to be told of who asks.
package struct HTTPProxy: Sendable, Hashable {
    /// A name or an address.
    package let host: String
    /// 80 unless the URL says another one.
    package let port: Int
    /// `USER:PASSWORD`, as it stands in Proxy-Authorization before it is encoded; nil if none were given.
    package let credentials: Secret?

    /// Reads `http://[USER:PASSWORD@]HOST[:PORT]`, in which the scheme may be left out; nil for anything else.
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
        guard let decoded = Self.decoded(user) else { return nil }
        credentials = Secret(decoded.contains(":") ? decoded : "\(decoded):")
    }

    /// The place, without credentials.
    package var name: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Takes the percent encoding away; nil if it is broken, or stands for what no header may have.
    private static func decoded(_ text: String) -> String? {
        guard let bytes = PercentCoding.bytes(text), bytes.allSatisfy({ $0 >= 0x20 }) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension HTTPProxy: CustomStringConvertible {
    /// As errors name it.
    package var description: String { "the proxy \(name)" }
}
