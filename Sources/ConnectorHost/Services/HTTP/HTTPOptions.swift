// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

/// How the requests of plugins leave the host: `http/1`.
public struct HTTPOptions: Sendable {
    /// Through which proxies requests go.
    public var proxies: HTTPProxies
    /// Files with the certificates, in PEM, of authorities that are trusted beside the system's own.
    ///
    /// They are read before the first `https` request; one that cannot be read fails every such request.
    public var additionalTrustRoots: [String]
    /// How long a request may take that sets no deadline.
    package var timeout: Duration = .seconds(30)
    /// How long it may take to connect, proxy and TLS included.
    package var connectTimeout: Duration = .seconds(10)
    /// How many bytes the body of a response may have, before and after it is decompressed.
    package var responseLimit = 16 << 20
    /// How many bytes the body of a request may have.
    package var requestLimit = 64 << 20
    /// How many redirects are followed.
    package var redirectLimit = 5
    /// How many requests one gate may have under way.
    package var concurrencyLimit = 4096
    /// Sent unless the plugin sets its own.
    package var userAgent = "connector-host/\(ConnectorHost.version)"

    /// Without proxies, and with the system's authorities, unless said otherwise.
    public init(proxies: HTTPProxies = HTTPProxies(), additionalTrustRoots: [String] = []) {
        self.proxies = proxies
        self.additionalTrustRoots = additionalTrustRoots
    }

    /// As other programs take it from the environment: the proxies of ``HTTPProxies/init(environment:)``, and the authorities in
    /// the file that `SSL_CERT_FILE` names.
    public init(environment: Configuration.Environment) {
        let roots = environment["SSL_CERT_FILE"] ?? ""
        self.init(
            proxies: HTTPProxies(environment: environment),
            additionalTrustRoots: roots.isEmpty ? [] : [roots]
        )
    }
}
