// This file is part of the connector-host project.
// SPDX-License-Identifier: Apache-2.0

internal import ConnectorConfiguration
public import ConnectorServices

extension HTTPOptions {
    /// Reads the proxies as ``HTTPProxies/init(environment:)`` does, and the authorities from the file `SSL_CERT_FILE`
    /// names.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }

    /// The options with a `User-Agent` that names the host's release, unless one is already set.
    func identifyingHost() -> Self {
        var options = self
        options.userAgent = userAgent ?? "connector-host/\(ConnectorHost.version)"
        return options
    }
}

extension HTTPProxies {
    /// Reads `http_proxy`, `https_proxy` and `no_proxy`, or their upper-case forms, as curl does.
    ///
    /// A lower-case name takes precedence if set, even if empty. `HTTP_PROXY` is ignored if `REQUEST_METHOD` is set: in
    /// a CGI program, any client can set it through a request header.
    public init(environment: Configuration.Environment) {
        self.init { environment[$0] }
    }
}
