// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import CConnector
package import ConnectorBase
package import ConnectorInvocation

/// The proxies of requests, and the hosts reached without one.
///
/// The host opens a tunnel through the proxy (`CONNECT`, RFC 9110, section 9.3.6), also for `http` URLs. Of an `https`
/// request, the proxy sees only the target. The allow-list is applied to the request's URL before any connection.
public struct HTTPProxies: Sendable {
    /// The proxy for `http` URLs, as `http://[USER:PASSWORD@]HOST[:PORT]`; nil for none.
    public var http: Secret?
    /// The proxy for `https` URLs, as `http://[USER:PASSWORD@]HOST[:PORT]`; nil for none.
    public var https: Secret?
    /// The hosts that are reached directly. An entry is `example.com`, which covers the hosts below it; an address; a
    /// network such as `10.0.0.0/8`; each of them with `:PORT` for only that port; or `*` for every host.
    public var exceptions: [String]
    /// Whether requests to the loopback interface use the proxy too, which is rarely wanted.
    public var includesLoopback = false

    /// Creates the settings; by default, without proxies.
    public init(http: Secret? = nil, https: Secret? = nil, exceptions: [String] = []) {
        self.http = http
        self.https = https
        self.exceptions = exceptions
    }

    /// Reads `http_proxy`, `https_proxy` and `no_proxy`, or the same in capitals, like curl.
    ///
    /// A lower-case name wins if it is set, even if it is empty. `HTTP_PROXY` is ignored where `REQUEST_METHOD` is set:
    /// in a CGI program it comes from a request header, which any client can set.
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
    /// - Throws: `unavailable` if the URL of the proxy cannot be read: the request is not at fault.
    package func proxy(for url: URLParts) throws(ServiceFailure) -> HTTPProxy? {
        guard let text = url.scheme == "https" ? https : http, !isDirect(url) else { return nil }
        if let proxy = HTTPProxy(text.reveal()) { return proxy }
        throw Self.unusable(for: url.scheme)
    }

    /// The failures of all requests that need a proxy whose URL cannot be read.
    var faults: [ServiceFailure] {
        [("http", http), ("https", https)].compactMap { scheme, url in
            guard let url, HTTPProxy(url.reveal()) == nil else { return nil }
            return Self.unusable(for: scheme)
        }
    }

    private static func unusable(for scheme: String) -> ServiceFailure {
        ServiceFailure(
            status: Int32(CONNECTOR_UNAVAILABLE),
            message: "the proxy for \(scheme) URLs is not http://[USER:PASSWORD@]HOST[:PORT]; correct \(scheme)_proxy",
            domain: ServiceFailure.proxyDomain
        )
    }

    private func isDirect(_ url: URLParts) -> Bool {
        let (address, host) = (NetworkAddress(url.host), Self.withoutRootLabel(url.host))
        let isLoopback = address?.isLoopback ?? (host == "localhost" || host.hasSuffix(".localhost"))
        if isLoopback, !includesLoopback { return true }
        return exceptions.contains { Self.exception($0.lowercased(), covers: url, address) }
    }

    private static func exception(_ text: String, covers url: URLParts, _ address: NetworkAddress?) -> Bool {
        if text == "*" { return true }
        if let slash = text.firstIndex(of: "/") {
            let parts = text[text.index(after: slash)...].split(separator: ":", omittingEmptySubsequences: false)
            guard let network = NetworkAddress(String(text[..<slash])), let length = Int(parts[0]), parts.count <= 2,
                parts.count == 1 || parts[1] == "\(url.effectivePort)"
            else { return false }
            return address?.isInside(network, prefix: length) ?? false
        }
        if let wanted = NetworkAddress(text) { return wanted == address }
        guard let rule = URLParts("http://\(text.trimmingPrefix("*").trimmingPrefix("."))") else { return false }
        if let port = rule.port, port != url.effectivePort { return false }
        if let wanted = NetworkAddress(rule.host) { return wanted == address }
        let (host, domain) = (withoutRootLabel(url.host), withoutRootLabel(rule.host))
        return host == domain || host.hasSuffix(".\(domain)")
    }

    /// The name without the trailing dot that makes it absolute.
    private static func withoutRootLabel(_ host: String) -> Substring {
        host.hasSuffix(".") ? host.dropLast() : host[...]
    }
}
