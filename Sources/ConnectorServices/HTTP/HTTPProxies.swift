// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorManifest

/// Which requests go through a proxy.
///
/// A proxy is asked for a tunnel (`CONNECT`, RFC 9110, section 9.3.6), also for `http` URLs, so it sees where a request goes and of an
/// `https` request nothing else. Where a connector may go is decided by the request's own URL, before anything is connected.
public struct HTTPProxies: Sendable {
    /// The proxy for `http` URLs, as `http://[USER:PASSWORD@]HOST[:PORT]`; nil for none.
    public var http: Secret?
    /// The proxy for `https` URLs, as `http://[USER:PASSWORD@]HOST[:PORT]`; nil for none.
    public var https: Secret?
    /// Hosts that are connected to directly: `example.com`, which is also every host below it; an address, or a network such as
    /// `10.0.0.0/8`; each with `:PORT` if only that port is meant; `*` for every host.
    public var exceptions: [String]
    /// Whether the loopback interface is reached through the proxy too; it hardly ever should be.
    public var includesLoopback = false

    /// No proxy unless one is given.
    public init(http: Secret? = nil, https: Secret? = nil, exceptions: [String] = []) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// Takes `http_proxy`, `https_proxy` and `no_proxy`, or the same in capitals, as curl does.
    ///
    /// A lower-case name that is set counts, even if it is empty. `HTTP_PROXY` is not looked at where `REQUEST_METHOD` is set: in a
    /// CGI program it is a header of the request, so that anybody could set it.
    ///
    /// - Parameter variable: The value of a variable; nil if it is not set.
    package init(variable: (String) -> String?) {
        func value(_ name: String, _ capitals: String?) -> String? {
            let value = variable(name) ?? capitals.flatMap(variable)
            return value?.isEmpty == false ? value : nil
        }
        let isCGI = variable("REQUEST_METHOD") != nil
        self.init(
            http: value("http_proxy", isCGI ? nil : "HTTP_PROXY").map(Secret.init),
            https: value("https_proxy", "HTTPS_PROXY").map(Secret.init),
            exceptions: (value("no_proxy", "NO_PROXY") ?? "").split { $0 == "," || $0 == " " }.map(String.init)
        )
    }

    /// The proxy that a request goes through; nil for none.
    ///
    /// - Throws: If there should be one, and what names it cannot be read.
    package func proxy(for url: URLParts) throws(ServiceFailure) -> HTTPProxy? {
        guard let text = url.scheme == "https" ? https : http, !isDirect(url) else { return nil }
        if let proxy = HTTPProxy(text.reveal()) { return proxy }
        throw ServiceFailure(
            status: Int32(CONNECTOR_INVALID),
            message:
                "the proxy for \(url.scheme) URLs is not http://[USER:PASSWORD@]HOST[:PORT]; correct \(url.scheme)_proxy",
            domain: "proxy"
        )
    }

    private func isDirect(_ url: URLParts) -> Bool {
        let address = NetworkAddress(url.host)
        let isLoopback = address?.isLoopback ?? (url.host == "localhost" || url.host.hasSuffix(".localhost"))
        if isLoopback, !includesLoopback { return true }
        return exceptions.contains { Self.exception($0.lowercased(), covers: url, address) }
    }

    private static func exception(_ text: String, covers url: URLParts, _ address: NetworkAddress?) -> Bool {
        if text == "*" { return true }
        if let slash = text.firstIndex(of: "/") {
            guard let network = NetworkAddress(String(text[..<slash])),
                let length = Int(text[text.index(after: slash)...])
            else { return false }
            return address?.isInside(network, prefix: length) ?? false
        }
        if let wanted = NetworkAddress(text) { return wanted == address }
        guard let rule = URLParts("http://\(text.trimmingPrefix("*").trimmingPrefix("."))") else { return false }
        if let port = rule.port, port != url.effectivePort { return false }
        if let wanted = NetworkAddress(rule.host) { return wanted == address }
        return url.host == rule.host || url.host.hasSuffix(".\(rule.host)")
    }
}
