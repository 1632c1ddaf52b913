// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How the requests of plugins leave the host: `http/1`.
///
/// Durations below zero count as zero, and those above a day as a day.
public struct HTTPOptions: Sendable {
    /// Through which proxies requests go; none by default.
    public var proxies: HTTPProxies
    /// Files with the certificates, in PEM, of authorities that are trusted beside the system's own; none by default.
    ///
    /// They are read before the first `https` request; one that cannot be read fails every such request.
    public var additionalTrustRoots: [String]
    /// How many connections of HTTP/1 to one host may be open at once, for all gates together: 1 or more, 128 by default.
    ///
    /// A connection of HTTP/1 carries one request at a time, so this is also how many requests to a host run at once; the others
    /// wait within their deadlines. A server that answers in 200 ms gets 5 requests a second over each connection. Connections are
    /// made when requests need them, and each one takes a file descriptor here and memory at the server. A host that speaks HTTP/2
    /// gets its requests over one connection, as many at once as it permits.
    public var connectionsPerHost = 128 {
        didSet { connectionsPerHost = max(1, connectionsPerHost) }
    }
    /// How long a connection stays open without a request: 0 or more, 50 s by default.
    ///
    /// Load balancers usually close theirs after 60 s. The client closes first, so that no request meets a connection that the
    /// server is closing.
    public var idleTimeout: Duration = .seconds(50)
    /// How long it may take to connect, proxy and TLS included: 10 s by default.
    public var connectTimeout: Duration = .seconds(10)
    /// How long a request may take that sets no deadline, from its start to the last byte of its response: 30 s by default.
    public var requestTimeout: Duration = .seconds(30)
    /// Whether a server that offers HTTP/2 over TLS (ALPN, RFC 7301) gets it; true by default. Without TLS it is HTTP/1.1.
    public var allowsHTTP2 = true
    /// Sent as `User-Agent` unless a plugin sets its own; nil, the default, is `connector-host/` and the version of the host.
    public var userAgent: String?
    /// How many bytes the body of a response may have, before and after it is decompressed.
    package var responseLimit = 16 << 20
    /// How many bytes the body of a request may have.
    package var requestLimit = 64 << 20
    /// How many redirects are followed.
    package var redirectLimit = 5
    /// How many requests one gate may have under way.
    package var concurrencyLimit = 4096

    /// Without proxies, and with the system's authorities, unless said otherwise.
    public init(proxies: HTTPProxies = HTTPProxies(), additionalTrustRoots: [String] = []) {
        self.proxies = proxies
        self.additionalTrustRoots = additionalTrustRoots
    }

    /// As other programs take it from the environment: the proxies of ``HTTPProxies/init(variable:)``, and the authorities in the
    /// file that `SSL_CERT_FILE` names.
    ///
    /// - Parameter variable: The value of a variable; nil if it is not set.
    package init(variable: (String) -> String?) {
        let roots = variable("SSL_CERT_FILE") ?? ""
        self.init(proxies: HTTPProxies(variable: variable), additionalTrustRoots: roots.isEmpty ? [] : [roots])
    }
}
